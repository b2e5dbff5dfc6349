import { CODE_CLASSES, type ScopeTally } from '../../telemetry/scope-tally.js'

/** What is counted for one upstream since the start, its routes included. */
export interface Totals {
  /** That had an answer to get: an app that left first is not among them. */
  requests: number
  /** The app got a 5xx, a broken body or nothing. */
  failed: number
  attempts: number
  /** The upstream gave a 5xx, a broken body or nothing. */
  attemptsFailed: number
  retries: number
  hedges: number
  /** Calls of polled requests after the first. */
  polls: number
  parked: number
  fallbacks: number
  /** By reason: failed attempts that no other one followed. */
  readonly denied: Map<string, number>
}

const SERVER_ERROR = CODE_CLASSES.indexOf('5xx')
const NO_CODE = CODE_CLASSES.indexOf('')
/** They say nothing of the upstream. */
const INNOCENT: ReadonlySet<string> = new Set(['response', 'aborted', 'lost'])
const HEDGES_SENT: ReadonlySet<string> = new Set(['won', 'lost', 'failed', 'aborted'])

export function totalsOf(scopes: Iterable<ScopeTally>): Totals {
  const sum = noTotals()
  for (const scope of scopes) add(sum, scope)
  return sum
}

export function noTotals(): Totals {
  const [calls, extra] = [
    { requests: 0, failed: 0, attempts: 0, attemptsFailed: 0 },
    { retries: 0, hedges: 0, polls: 0, parked: 0, fallbacks: 0 },
  ]
  return { ...calls, ...extra, denied: new Map() }
}

function add(sum: Totals, scope: ScopeTally): void {
  for (const { word, slot, count } of scope.requests.entries()) {
    if (word === 'aborted') continue
    const code = slot % CODE_CLASSES.length
    sum.requests += count
    if (code === SERVER_ERROR || code === NO_CODE || word === 'cut') sum.failed += count
  }
  for (const { word, slot, count } of scope.attempts.entries()) {
    sum.attempts += count
    if (slot === SERVER_ERROR || !INNOCENT.has(word)) sum.attemptsFailed += count
  }
  for (const { count } of scope.retries.entries()) sum.retries += count
  for (const { word, count } of scope.hedges.entries()) if (HEDGES_SENT.has(word)) sum.hedges += count
  for (const { word, count } of scope.polls.entries()) if (word === 'repeated') sum.polls += count
  for (const { word, count } of scope.parked.entries()) if (word === 'parked') sum.parked += count
  for (const { count } of scope.fallbacks.entries()) sum.fallbacks += count
  for (const { word, count } of scope.denied.entries()) sum.denied.set(word, (sum.denied.get(word) ?? 0) + count)
}
