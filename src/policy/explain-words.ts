/** The sentences of `forbear explain`. */
import type { BudgetSettings } from '../core/budget.js'
import { isSafe, repeatability, repeatable } from '../core/idempotency.js'
import { mayPark, type ParkSettings } from '../core/park.js'
import type { RetrySettings, RouteMatch, RouteSnapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { durationText } from './duration-text.js'
import type { Forecast } from './forecast.js'
import { type OtherRoute, pathMatchText } from './other-routes.js'
import type { WaitRange } from './waits.js'

/** Where a call goes. */
export interface FoundCall {
  readonly upstream: UpstreamSnapshot
  readonly route: RouteSnapshot | null
  /** How the call finds the upstream. */
  readonly via: 'own-port' | 'authority' | 'header' | 'host' | 'prefix'
}

export function viaText({ via, upstream }: FoundCall): string {
  switch (via) {
    case 'own-port':
      return `by its own port ${upstream.listen}`
    case 'authority':
      return 'by the address in the request line, as sent to a proxy (HTTP_PROXY)'
    case 'header':
      return 'by the forbear-upstream header'
    case 'host':
      return 'by the Host header'
    case 'prefix':
      return `by the path prefix ${upstream.match.pathPrefix} on the shared port`
  }
}

export function routeText({ upstream, route }: FoundCall): string {
  if (route !== null) return `${route.name}, the first that matches: ${matchText(route.match)}`
  return upstream.routes.length === 0 ? 'none is written' : `none of ${upstream.routes.length} matches`
}

/** One line each, after the route that is taken. */
export function otherRouteTexts(others: readonly (OtherRoute & { readonly at: string | null })[]): string[] {
  const shown = others.slice(0, MAX_OTHERS).map(({ name, at, missed, text }) => {
    const place = at === null ? '' : ` (${at})`
    return `${missed === null ? 'never' : 'not'} ${name}${place}: ${missed === null ? 'it ' : ''}${text}`
  })
  const more = others.length - shown.length
  return more > 0 ? [...shown, `and ${more} more that nearly match`] : shown
}

const MAX_OTHERS = 5

function matchText({ methods, path, headers }: RouteMatch): string {
  const parts = [
    ...(methods === null ? [] : [[...methods].join(' or ')]),
    ...(path.kind === 'prefix' ? [`path under ${path.prefix}`] : []),
    ...(path.kind === 'exact' ? [`path ${pathMatchText(path)}`] : []),
    ...headers.map(({ name, value }) => `${name}: ${value}`),
  ]
  return parts.length === 0 ? 'every call' : parts.join(', ')
}

export function attemptsText({ maxAttempts }: Forecast): string {
  return maxAttempts === 1 ? '1: never retried' : `at most ${maxAttempts}, the first included`
}

export function retriedText({ retryOn, onHeaders }: UpstreamSnapshot['policy']['retry']): string {
  const reasons = [
    ...(retryOn.connect ? ['no connection'] : []),
    ...(retryOn.reset ? ['connection lost before an answer'] : []),
    ...(retryOn.timeout ? ['attempt timeout'] : []),
    ...[...retryOn.statuses].sort((a, b) => a - b).map(String),
    ...onHeaders.map(({ name, value }) => (value === null ? `any ${name}` : `${name}: ${value}`)),
  ]
  return reasons.length === 0 ? 'after nothing' : `after ${reasons.join(', ')}`
}

export function repeatedText(method: string, { repeatability }: Forecast, keyHeaders: readonly string[]): string {
  switch (repeatability.kind) {
    case 'idempotent':
      return `yes: ${method} is idempotent`
    case 'keyed':
      return `yes: the call carries ${repeatability.header}`
    case 'generate':
      return `yes: ${keyHeaders[0]} is added, the same on all attempts`
    case 'none':
      return `only if nothing was sent: ${method} is not idempotent${keyHeaders.length === 0 ? '' : ` without ${keyHeaders.join(' or ')}`}`
  }
}

/** One line each. What was answered is repeated only where the call may be sent twice. */
export function waitTexts({ waits, repeatability, totalMs }: Forecast, retry: RetrySettings): string[] {
  const isCut = ({ maxMs }: { readonly maxMs: number }) => maxMs >= totalMs
  const limit = `none that does not end within ${durationText(totalMs)}, the time of the whole call: the retry is not made`
  if (!repeatable(repeatability.kind)) {
    return [...waits.map(wait => waitText(wait, '')), ...(waits.some(isCut) ? [limit] : [])]
  }
  const hintMs = Math.min(retry.retryAfter.capMs, totalMs)
  const anyCut = hintMs >= totalMs || waits.some(wait => isCut(wait) || isCut(wait.throttled))
  const grows = [retry.backoff, retry.throttled].some(({ jitter }) => jitter.kind === 'decorrelated')
  const asked = `or as long as a Retry-After asks, up to ${durationText(hintMs)}, and the wait above on top`
  const hint = grows ? `${asked}, from which the next one grows` : asked
  return [
    ...waits.map(wait => waitText(wait, `; after a 429: ${rangeText(wait.throttled.minMs, wait.throttled.maxMs)}`)),
    hint,
    ...(anyCut ? [limit] : []),
  ]
}

function waitText({ from, to, minMs, maxMs }: WaitRange, more: string): string {
  const which = from === to ? `retry ${from}` : `retries ${from} to ${to}`
  return `before ${which}: ${rangeText(minMs, maxMs)}${more}`
}

function rangeText(minMs: number, maxMs: number): string {
  return minMs === maxMs ? durationText(minMs) : `${durationText(minMs)} to ${durationText(maxMs)}`
}

/** One line, or a second for what may come on top. */
export function worstTexts({ worst, maxAttempts, repeatability }: Forecast): string[] {
  const { ms, because, queuedMs } = worst
  const answered = `the app has an answer ${durationText(ms)} after its request was sent`
  switch (because) {
    case 'total':
      return [`${answered} (timeouts.total)`]
    case 'app':
      return [`${answered} (its own forbear-timeout-ms)`]
    case 'attempts':
      return [`${answered} (${longestText(maxAttempts, repeatability)})`, queuedText(queuedMs)]
    case 'poll':
      return [`${answered}, the last one if it is not the one waited for (poll.maxWait)`]
    case 'held':
      return ['the app waits without end while the breaker is open or the gate closed: timeouts.total is none']
    case 'no-clock':
      return ['the app waits without end: no clock is set']
  }
}

/** What may be sent twice is sent anew, free, when a kept connection dies under it. */
function longestText(maxAttempts: number, { kind }: Forecast['repeatability']): string {
  const all = maxAttempts === 1 ? 'the attempt at its longest' : 'every attempt and wait at its longest'
  return repeatable(kind) ? `${all}, a free one on a fresh connection after a stale one included` : all
}

/** The cap that keeps the window's allowance from being spent at once. */
export function perSecondText({ ratio, minPerSecond, windowMs }: BudgetSettings): string {
  const floor = Math.floor((minPerSecond * windowMs) / 1000 + 1e-6)
  return `in any second at most ${percentText(ratio)} of its first attempts, or ${floor} if that is more`
}

function queuedText(queuedMs: number): string {
  if (!Number.isFinite(queuedMs)) return 'with maxInFlight calls before it, later: timeouts.total is none'
  return `with maxInFlight calls before it, ${durationText(queuedMs)} (timeouts.total)`
}

export function parkedText(
  park: ParkSettings,
  { method, headers }: { readonly method: string; readonly headers: readonly string[] },
  { idempotency }: RetrySettings,
): string {
  if (isSafe(method)) return `never: ${method} changes nothing`
  if (!mayPark(park, method, headers, repeatability(method, headers, idempotency))) {
    const wish = park.accept === 'prefer' ? ' and Prefer: respond-async' : ''
    return `not this call: it needs ${['If-Match', ...idempotency.keyHeaders].join(' or ')}${wish}`
  }
  const [first, every, age] = [park.firstMs, park.everyMs, park.maxAgeMs].map(durationText)
  return `if it fails for good: 202, and again after ${first}, then up to ${every} apart, for ${age} or ${park.maxAttempts} times`
}

export function breakerText({ upstream, route }: FoundCall): string {
  const { mode, whenOpen, slowCall } = (route ?? upstream).policy.breaker
  const whose =
    route?.own.breaker === true || route?.own.pace === true ? 'the route’s own' : 'shared by the upstream’s routes'
  if (mode === 'disabled') return 'off'
  const slow = Number.isFinite(slowCall.afterMs)
    ? `; also opens on slowness: ${percentText(slowCall.ratio)} of the calls after ${durationText(slowCall.afterMs)} or more`
    : ''
  if (mode === 'observe') return `${whose}; counts and reports, refuses nothing${slow}`
  return `${whose}; while open, calls ${whenOpen === 'wait' ? 'wait for it to close' : 'are refused with 503'}${slow}`
}

function percentText(ratio: number): string {
  return `${Number((ratio * 100).toFixed(3))} %`
}
