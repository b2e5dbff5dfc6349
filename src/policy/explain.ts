/** `forbear explain` in words: which upstream and route a call finds, what will happen to it, and who said so. */
import type { FallbackSettings } from '../core/fallback.js'
import type { PaceSettings } from '../core/pacer.js'
import { storeText } from '../core/park.js'
import type { PollSettings } from '../core/poll.js'
import { targetText } from '../core/target-text.js'
import type { ThrottleSettings } from '../core/throttle.js'
import {
  attemptsText,
  breakerText,
  type FoundCall,
  otherRouteTexts,
  parkedText,
  perSecondText,
  repeatedText,
  retriedText,
  routeText,
  viaText,
  waitTexts,
  worstTexts,
} from './explain-words.js'
import { type Forecast, forecast, retriesInTenSeconds } from './forecast.js'
import { hedgeTexts } from './hedge-text.js'
import { otherRoutes } from './other-routes.js'
import { pollTexts } from './poll-text.js'
import type { EffectiveField } from './provenance.js'
import { listText } from './schema-words.js'

export interface ExplainedCall extends FoundCall {
  readonly method: string
  /** As asked. */
  readonly url: string
  /** As the upstream sees it, without the target's base path. */
  readonly path: string
  /** The app's, flat. */
  readonly headers: readonly string[]
  readonly fields: readonly EffectiveField[]
  /** `file:line` of every route of the upstream, by name. */
  readonly places: ReadonlyMap<string, string>
}

/** Calls a second for which the budget is told. */
const RATES = [1, 10, 100] as const

export function explainText(call: ExplainedCall): string {
  const { upstream, route } = call
  const policy = (route ?? upstream).policy
  const future = forecast(policy, call.method, call.headers)
  const hedged = hedgeTexts(call.method, policy, future)
  const rows: [string, string[]][] = [
    ['upstream', [`${upstream.name}, ${targetText(upstream.target)}`, `${viaText(call)}; it sees ${call.path}`]],
    ['route', [routeText(call), ...otherRouteTexts(othersOf(call))]],
    ['attempts', [attemptsText(future)]],
    ...(future.maxAttempts > 1 ? retryRows(call, future) : []),
    ...(hedged.length > 0 ? [['hedged', hedged] satisfies [string, string[]]] : []),
    ...pollRows(policy.poll, future),
    ['at worst', worstTexts(future)],
    ['breaker', [breakerText(call)]],
    ...paceRows(policy.pace),
    ...throttleRows(policy.throttle),
    ...fallbackRows(policy.fallback, call.method),
    ...(policy.park === null ? [] : [['parked', [parkedText(policy.park, call, policy.retry)]] as [string, string[]]]),
  ]
  return `${call.method} ${call.url}\n\n${labelled(rows)}\n\n${fieldTable(shown(call.fields))}\n`
}

/** The same for tools; `null` stands for a clock that never ends. */
export function explainData(call: ExplainedCall): object {
  const { method, url, upstream, route, via, path, fields } = call
  const { budget } = (route ?? upstream).policy
  const future = forecast((route ?? upstream).policy, method, call.headers)
  const { repeatability, maxAttempts, waits, worst, pollMs } = future
  const retriesPer10s = RATES.map(perSecond => ({
    perSecond,
    succeeding: retriesInTenSeconds(budget, perSecond, true),
    failing: retriesInTenSeconds(budget, perSecond, false),
  }))
  return {
    method,
    url,
    upstream: upstream.name,
    target: targetText(upstream.target),
    via,
    path,
    route: route?.name ?? null,
    otherRoutes: othersOf(call),
    maxAttempts,
    repeatable: repeatability.kind,
    waits,
    pollMs,
    worstCaseMs: finite(worst.ms),
    worstCaseBecause: worst.because,
    worstCaseQueuedMs: finite(worst.queuedMs),
    retriesPer10s,
    hedged: hedgeTexts(method, (route ?? upstream).policy, future),
    fields: shown(fields),
  }
}

function paceRows({ mode, ratePerSec, burst }: PaceSettings): [string, string[]][] {
  if (mode === 'disabled') return []
  const rate =
    mode === 'fixed' ? `${ratePerSec} calls a second, ${burst} at once` : 'after a 429 no faster than it takes'
  return [['pace', [`${rate}; calls above it wait in line`]]]
}

function fallbackRows({ when, methods, status }: FallbackSettings, method: string): [string, string[]][] {
  if (when.size === 0 || !methods.has(method)) return []
  return [['fallback', [`${status} of the policy’s own for ${listText([...when])}`]]]
}

function pollRows(poll: PollSettings | null, { pollMs }: Forecast): [string, string[]][] {
  return poll === null || pollMs === null ? [] : [['poll', pollTexts(poll, pollMs)]]
}

function throttleRows({ mode, k }: ThrottleSettings): [string, string[]][] {
  if (mode === 'disabled') return []
  const does = mode === 'observe' ? 'tells what it would refuse' : 'refuses with 503'
  return [['throttle', [`${does}: while the upstream accepts only a part, all but ${k} times as many`]]]
}

function othersOf({ upstream, route, method, path, headers, places }: ExplainedCall) {
  const others = otherRoutes(upstream, route, method, path, headers)
  return others.map(other => ({ ...other, at: places.get(other.name) ?? null }))
}

function finite(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null
}

function retryRows({ method, upstream, route }: ExplainedCall, future: Forecast): [string, string[]][] {
  const { retry, budget } = (route ?? upstream).policy
  const granted = RATES.map(rate => `${retriesInTenSeconds(budget, rate, true)} at ${rate} a second`)
  return [
    ['retried', [retriedText(retry)]],
    ['repeated', [repeatedText(method, future, retry.idempotency.keyHeaders)]],
    ['waits', waitTexts(future, retry)],
    [
      'budget',
      [
        `retries in 10s while first attempts succeed: ${granted.join(', ')}`,
        `while all of them fail: ${retriesInTenSeconds(budget, 100, false)}`,
        perSecondText(budget),
      ],
    ],
  ]
}

function labelled(rows: readonly [string, readonly string[]][]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + 2
  return rows
    .flatMap(([label, lines]) => lines.map((line, n) => `${(n === 0 ? label : '').padEnd(width)}${line}`))
    .join('\n')
}

function shown(fields: readonly EffectiveField[]): EffectiveField[] {
  return fields.map(field =>
    field.path === 'park.store' ? { ...field, value: storeText(String(field.value)) } : field,
  )
}

function fieldTable(fields: readonly EffectiveField[]): string {
  const rows = fields.map(({ path, value, origin }) => [path, valueText(value), originText(origin)] as const)
  const widths = [0, 1].map(column => Math.max(0, ...rows.map(row => (row[column] ?? '').length)))
  return rows
    .map(([path, value, origin]) => `${path.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${origin}`)
    .join('\n')
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function originText(origin: EffectiveField['origin']): string {
  return origin.kind === 'built-in' ? 'built-in' : `${origin.file}:${origin.line} (${origin.from})`
}
