/** Two looks at a sidecar → one row for each upstream and route. Pure. */
import { addReason, noCounts } from './read-counts.js'
import type { AllCounts, Counts, InstancesView, Look } from './sidecar-view.js'

/** Rates between two looks; `null` = there is nothing to divide, or only one look so far. */
export interface Rates {
  readonly requestsPerSec: number | null
  /** Requests that did not fail. */
  readonly success: number | null
  /** Retries and hedges per request; the budget allows `budget.ratio` of the successful ones, and a few each second. */
  readonly retryShare: number | null
  /** Attempts per request. */
  readonly amplification: number | null
}

export interface Row extends Rates {
  readonly upstream: string
  /** `null` = the whole upstream, its routes included. */
  readonly route: string | null
  readonly state: InstancesView
  /** What went wrong most between the looks. */
  readonly reason: string | null
  /** The budget refused a retry between the looks. */
  readonly budgetSpent: boolean
}

export interface UpstreamRow extends Row {
  /** Those that had a call, or have instances of their own. */
  readonly routes: readonly Row[]
}

/** `before` is `null` at the first look and behind a restart. Reasons are kept by `lastReasons` while nothing new goes wrong. */
export function rowsOf(before: Look | null, now: Look, lastReasons: Map<string, string>): UpstreamRow[] {
  return Object.entries(now.status.upstreams).map(([upstream, state]) => {
    const since = (route: string | null): Counts | null =>
      before === null ? null : difference(sum(before.counts, upstream, route), sum(now.counts, upstream, route))
    const seconds = before === null ? 0 : (now.tickMs - before.tickMs) / 1000
    const row = (route: string | null, its: InstancesView): Row =>
      rowOf({ upstream, route, state: its, since: since(route), seconds, lastReasons })
    const names = new Set([...Object.keys(state.routes), ...(now.counts.get(upstream)?.keys() ?? [])])
    const routes = [...names].filter(name => name !== '').sort()
    return { ...row(null, state), routes: routes.map(name => row(name, state.routes[name] ?? state)) }
  })
}

/** Whether both are of the same process. */
export function isSameRun(before: Look, now: Look): boolean {
  return before.startedAt === now.startedAt && before.tickMs < now.tickMs
}

/** Requests a second that matched no upstream. */
export function unmatchedPerSec(before: Look | null, now: Look): number {
  if (before === null) return 0
  const since = difference(sum(before.counts, '_none', null), sum(now.counts, '_none', null))
  return since.requests / ((now.tickMs - before.tickMs) / 1000)
}

interface Facts extends Pick<Row, 'upstream' | 'route' | 'state'> {
  readonly since: Counts | null
  readonly seconds: number
  readonly lastReasons: Map<string, string>
}

function rowOf({ upstream, route, state, since, seconds, lastReasons }: Facts): Row {
  const key = `${upstream} ${route ?? ''}`
  const worst = since === null ? undefined : mostOf(since.reasons)
  if (worst !== undefined) lastReasons.set(key, worst)
  const rates = since === null ? NO_RATES : ratesOf(since, seconds)
  const budgetSpent = (since?.reasons.get('budget-exhausted') ?? 0) > 0
  return { upstream, route, state, ...rates, reason: lastReasons.get(key) ?? null, budgetSpent }
}

const NO_RATES: Rates = { requestsPerSec: null, success: null, retryShare: null, amplification: null }

function ratesOf({ requests, failed, attempts, retries, hedges }: Counts, seconds: number): Rates {
  const perRequest = (count: number): number | null => (requests === 0 ? null : count / requests)
  return {
    requestsPerSec: requests / seconds,
    success: perRequest(requests - failed),
    retryShare: perRequest(retries + hedges),
    amplification: perRequest(attempts),
  }
}

/** Of one route, or of all of them. */
function sum(counts: AllCounts, upstream: string, route: string | null): Counts {
  const total = noCounts()
  for (const [name, each] of counts.get(upstream) ?? []) {
    if (route === null || route === name) add(total, each)
  }
  return total
}

function add(total: Counts, { reasons, ...numbers }: Counts): void {
  for (const [field, value] of Object.entries(numbers)) total[field as keyof typeof numbers] += value
  for (const [reason, value] of reasons) addReason(total, reason, value)
}

/** Counts of an upstream that was removed and came back begin anew. */
function difference(before: Counts, now: Counts): Counts {
  if (before.requests > now.requests || before.attempts > now.attempts) return now
  const reasons = new Map(
    [...now.reasons].map(([reason, value]) => [reason, value - (before.reasons.get(reason) ?? 0)]),
  )
  const less = (field: Exclude<keyof Counts, 'reasons'>): number => Math.max(0, now[field] - before[field])
  return {
    requests: less('requests'),
    failed: less('failed'),
    attempts: less('attempts'),
    retries: less('retries'),
    hedges: less('hedges'),
    reasons,
  }
}

function mostOf(reasons: ReadonlyMap<string, number>): string | undefined {
  return [...reasons].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a)[0]?.[0]
}
