import { backoffDelayMs } from '../core/backoff.js'
import type { AttemptFacts } from '../core/classify.js'
import { headerValue } from '../core/headers.js'
import { holds, isJson, judgeStatus, mayPoll, type PollSettings, pollTimeMs, pollWaitMs } from '../core/poll.js'
import { preferredWaitMs } from '../core/prefer.js'
import { retryAfterMs } from '../core/retry-after.js'
import type { AttemptRun } from './attempt-run.js'
import { answerKept, outcomeOf } from './endings.js'
import type { Exchange } from './exchange.js'
import type { HeldResponse, RawHeaders, ResponseHead } from './ports.js'
import { reportPoll, reportUnreadable } from './report.js'

/** Largest answer that is read to be judged, and kept through the wait. */
const READ_BYTES = 64 * 1024

/** The poll of one request; `null` = it is not polled. */
export function pollOf(exchange: Exchange): Poll | null {
  const { policy, downstream } = exchange
  if (policy.poll === null || !mayPoll(policy.poll, downstream.method, downstream.body !== null)) return null
  return new Poll(exchange, policy.poll)
}

/**
 * What one request remembers of its polls. Each is a call of its own, a first attempt with its retries; to the exchange
 * they are rounds, of which the last one's answer is the app's.
 */
export class Poll {
  /** The last answer that said "not yet". */
  pending: HeldResponse | null = null
  /** In the rounds that are over. */
  earlierAttempts = 0
  earlierHedges = 0
  readonly #exchange: Exchange
  readonly #settings: PollSettings
  readonly #preferred: boolean
  #rounds = 0
  /** When the polling ends; a first poll is not cut by it. */
  #endMs: number
  #waits = 0
  #previousMs: number | null = null
  /** What is waited for: the next poll, or a retry that the budget has yet to pay. */
  #due: 'poll' | 'retry' | null = null
  /** The answer being read may be the one that is waited for. */
  #mayBeDone = false

  constructor(exchange: Exchange, settings: PollSettings) {
    const { headers } = exchange.downstream
    this.#exchange = exchange
    this.#settings = settings
    this.#preferred = preferredWaitMs(headers) !== null
    this.#endMs = exchange.arrivedMs + pollTimeMs(settings, headers)
  }

  /** Polls made so far. */
  get count(): number {
    return this.#rounds + (this.#exchange.attempts > 0 ? 1 : 0)
  }

  /** Fields of every answer to a polled request. */
  get fields(): RawHeaders {
    const polls = ['forbear-polls', String(this.count)]
    return this.#preferred ? [...polls, 'preference-applied', 'wait'] : polls
  }

  /** `false` = it is no business of the poll: a failure, or an answer that will never be the one waited for. */
  onHead(run: AttemptRun, head: ResponseHead, facts: AttemptFacts): boolean {
    if (facts.retryable || facts.stop !== null) return false
    const verdict = judgeStatus(this.#settings.until, head.status)
    if (verdict === 'done' || verdict === 'final') {
      reportPoll(this.#exchange, verdict)
      return false
    }
    this.#mayBeDone = verdict === 'judge'
    run.read(READ_BYTES)
    return true
  }

  onRead(run: AttemptRun, whole: boolean): void {
    const kept = whole ? run.held() : null
    const document = kept === null ? 'unreadable' : this.#documentOf(kept)
    if (kept === null) {
      this.#tellUnreadable()
      this.#exchange.commit(run, 'poll-pending')
    } else if (document === 'unreadable') {
      this.#tellUnreadable()
      this.#end(kept, 'poll-pending')
    } else if (document.done) {
      reportPoll(this.#exchange, 'done')
      this.#end(kept, outcomeOf(NOTHING_WRONG, run.hedge))
    } else this.#waitAfter(kept)
  }

  /** A wait may be over. `true` = the request is not to be sent now: it is over itself, or waits on. */
  holdsBack(nowMs: number): boolean {
    const due = this.#due
    if (due === null) return false
    this.#due = null
    const exchange = this.#exchange
    if (due === 'retry') {
      if (!exchange.remember().tryWithdraw(nowMs, nowMs)) return this.slowsDown(nowMs)
    } else if (!this.#goesOn(nowMs)) {
      exchange.giveUp('deadline')
      return true
    }
    exchange.deadline.start(Math.min(exchange.facts.totalMs, this.#endMs - nowMs), nowMs)
    return false
  }

  /** The budget is empty, which makes a poll slower: how much, or `null` when its time is up. */
  slowerMs(hintMs: number, nowMs: number): number | null {
    const delayMs = this.#nextMs(hintMs, nowMs)
    if (delayMs === null) return null
    this.#due = 'retry'
    this.#exchange.deadline.clear()
    return delayMs
  }

  /** The retry that was granted, or was to be, cannot be paid now. Ends the request when there is no time to wait. */
  slowsDown(nowMs: number): boolean {
    const { memory, waiting } = this.#exchange
    memory?.giveBack(nowMs)
    const delayMs = this.slowerMs(0, nowMs)
    if (delayMs === null) this.#exchange.stop('budget-exhausted', 'budget-exhausted')
    else waiting.backOff(delayMs)
    return true
  }

  #waitAfter(kept: HeldResponse): void {
    const exchange = this.#exchange
    const { clock } = exchange.deps
    const nowMs = clock.nowMs()
    this.pending = kept
    this.#endRound(nowMs)
    const hintMs = retryAfterMs(kept.head.headers, clock.wallMs()) ?? 0
    const delayMs = this.#goesOn(nowMs) ? this.#nextMs(hintMs, nowMs) : null
    if (delayMs === null) return exchange.giveUp('deadline')
    this.#due = 'poll'
    reportPoll(exchange, 'repeated')
    exchange.waiting.backOff(delayMs)
  }

  /** The next attempt is a first one again. */
  #endRound(nowMs: number): void {
    const exchange = this.#exchange
    this.#rounds += 1
    this.earlierAttempts += exchange.attempts
    this.earlierHedges += exchange.hedges
    exchange.attempts = 0
    exchange.hedges = 0
    exchange.memory?.end(nowMs)
    exchange.memory = null
    exchange.deadline.clear()
  }

  /** The policy of now still wants it, and there is time. */
  #goesOn(nowMs: number): boolean {
    const now = this.#exchange.deps.pollNow(this.#exchange)
    if (now === null) return false
    this.#endMs = Math.min(this.#endMs, this.#exchange.arrivedMs + now.maxWaitMs)
    return nowMs < this.#endMs
  }

  #nextMs(hintMs: number, nowMs: number): number | null {
    const { lane, deps } = this.#exchange
    const { backoff } = this.#settings
    this.#waits += 1
    const ownMs = backoffDelayMs(backoff, this.#waits, this.#previousMs, deps.random)
    this.#previousMs = ownMs
    const leastMs = Math.min(backoff.baseMs, backoff.capMs) / 2
    const medianMs = lane.latency.median(nowMs)
    return pollWaitMs({ ownMs, leastMs, hintMs, nowMs, endMs: this.#endMs, medianMs }, deps.random)
  }

  /** A JSON document that cannot be read may be the one that is waited for. */
  #documentOf({ head, body }: HeldResponse): 'unreadable' | { readonly done: boolean } {
    const { json } = this.#settings.until
    const { headers } = head
    if (!this.#mayBeDone || json === null || !isJson(headerValue(headers, 'content-type'))) return { done: false }
    const codings = headerValue(headers, 'content-encoding') ?? ''
    const bytes = this.#exchange.deps.decodeBody(body, codings, READ_BYTES)
    return bytes === null ? 'unreadable' : { done: holds(json, parsed(bytes)) }
  }

  #tellUnreadable(): void {
    reportUnreadable(this.#exchange)
    reportPoll(this.#exchange, 'pending')
  }

  #end(kept: HeldResponse, outcome: Parameters<typeof answerKept>[2]): void {
    const exchange = this.#exchange
    exchange.headMs = exchange.deps.clock.nowMs() - exchange.arrivedMs
    exchange.finish(answerKept(exchange, kept, outcome))
  }
}

const NOTHING_WRONG = { stop: null } as const

/** `undefined` = no JSON. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown
  } catch {
    return undefined
  }
}
