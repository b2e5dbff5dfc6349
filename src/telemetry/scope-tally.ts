import type {
  AttemptFinished,
  BreakerChanged,
  FallbackGiven,
  FaultInjected,
  HedgeDecided,
  ParkedCall,
  PollJudged,
  RequestFinished,
  RetryDenied,
  RetryScheduled,
} from './events.js'
import { Histogram, type SeriesCap, WordCounts } from './tally.js'

/** The last one stands for any other. */
export const METHOD_CLASSES = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'OTHER',
] as const
/** The first one: no status. */
export const CODE_CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'] as const
export const BREAKER_STATES = ['closed', 'half-open', 'open'] as const

const LATENCY_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const BACKOFF_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const METHOD_INDEX: ReadonlyMap<string, number> = new Map(METHOD_CLASSES.map((name, index) => [name, index]))

/** Everything counted for one upstream and route. A method answers false when the series cap left no room. */
export class ScopeTally {
  readonly labels: { readonly upstream: string; readonly route: string }
  /** By outcome; slot = method × code. */
  readonly requests: WordCounts
  /** By result; slot = code. */
  readonly attempts: WordCounts
  readonly retries: WordCounts
  readonly denied: WordCounts
  readonly hedges: WordCounts
  readonly polls: WordCounts
  /** By reason; slot = new state × observed only. */
  readonly transitions: WordCounts
  /** By cause. */
  readonly fallbacks: WordCounts
  /** By kind. */
  readonly faults: WordCounts
  /** By step. */
  readonly parked: WordCounts
  readonly requestSeconds: Histogram
  readonly attemptSeconds: Histogram
  readonly backoffSeconds: Histogram

  constructor(upstream: string, route: string, cap: SeriesCap) {
    this.labels = { upstream, route }
    this.requests = new WordCounts(METHOD_CLASSES.length * CODE_CLASSES.length, cap)
    this.attempts = new WordCounts(CODE_CLASSES.length, cap)
    this.retries = new WordCounts(1, cap)
    this.denied = new WordCounts(1, cap)
    this.hedges = new WordCounts(1, cap)
    this.polls = new WordCounts(1, cap)
    this.transitions = new WordCounts(BREAKER_STATES.length * 2, cap)
    this.fallbacks = new WordCounts(1, cap)
    this.faults = new WordCounts(1, cap)
    this.parked = new WordCounts(1, cap)
    this.requestSeconds = new Histogram(LATENCY_BOUNDS_S, cap)
    this.attemptSeconds = new Histogram(LATENCY_BOUNDS_S, cap)
    this.backoffSeconds = new Histogram(BACKOFF_BOUNDS_S, cap)
  }

  get series(): number {
    const retried = [this.retries, this.denied, this.hedges, this.polls]
    const told = [this.transitions, this.fallbacks, this.faults, this.parked]
    const counts = [this.requests, this.attempts, ...retried, ...told]
    const histograms = [this.requestSeconds, this.attemptSeconds, this.backoffSeconds]
    return [...counts, ...histograms].reduce((sum, each) => sum + each.series, 0)
  }

  /** Without a method for one that could not be read. */
  request(event: Pick<RequestFinished, 'method' | 'status' | 'outcome'>): boolean {
    return this.requests.add(event.outcome, methodIndex(event.method) * CODE_CLASSES.length + codeIndex(event.status))
  }

  requestTime(event: RequestFinished): boolean {
    return this.requestSeconds.observe(event.durationMs / 1000)
  }

  attempt(event: AttemptFinished): boolean {
    return this.attempts.add(event.result, codeIndex(event.status))
  }

  attemptTime(event: AttemptFinished): boolean {
    return this.attemptSeconds.observe(event.durationMs / 1000)
  }

  retry(event: RetryScheduled): boolean {
    return this.retries.add(event.reason, 0)
  }

  backoff(event: RetryScheduled): boolean {
    return this.backoffSeconds.observe(event.delayMs / 1000)
  }

  denial(event: RetryDenied): boolean {
    return this.denied.add(event.reason, 0)
  }

  fallback(event: FallbackGiven): boolean {
    return this.fallbacks.add(event.cause, 0)
  }

  fault(event: FaultInjected): boolean {
    return this.faults.add(event.kind, 0)
  }

  hedge(event: HedgeDecided): boolean {
    return this.hedges.add(event.result, 0)
  }

  poll(event: PollJudged): boolean {
    return this.polls.add(event.result, 0)
  }

  parkedCall(event: ParkedCall): boolean {
    return this.parked.add(event.step, 0)
  }

  transition(event: BreakerChanged): boolean {
    return this.transitions.add(event.reason, BREAKER_STATES.indexOf(event.to) * 2 + (event.observeOnly ? 1 : 0))
  }
}

function methodIndex(method: string): number {
  return METHOD_INDEX.get(method) ?? METHOD_CLASSES.length - 1
}

function codeIndex(status: number | null): number {
  if (status === null || status < 100 || status > 599) return 0
  return Math.floor(status / 100)
}
