/** From fields as written to the numbers that the request path reads. */
import type { BackoffSettings, Jitter } from '../core/backoff.js'
import type { FallbackCause, FallbackSettings } from '../core/fallback.js'
import type { HedgeDelay, HedgeSettings } from '../core/hedge.js'
import type { ParkSettings } from '../core/park.js'
import type { EffectivePolicy, RetryHeader, RetryOn, RetrySettings, TimeoutSettings } from '../core/snapshot.js'
import { compilePoll } from './compile-poll.js'
import { parseDurationMs } from './duration.js'
import type { Fields } from './overlay.js'
import { parseQuantile } from './quantile.js'
import { parseSizeBytes } from './size.js'

/** No more than the schema allows; the pool's connections bound it sooner. */
const MOST_IN_FLIGHT = 1_000_000

export function compilePolicy(fields: Fields): EffectivePolicy {
  const read = reader(fields)
  return Object.freeze({
    timeouts: timeouts(read),
    retry: retry(read, fields),
    budget: Object.freeze({
      ratio: read.number('budget.ratio'),
      windowMs: read.ms('budget.window'),
      minPerSecond: read.number('budget.minPerSecond'),
    }),
    breaker: Object.freeze({
      mode: read.word<'enforce' | 'observe' | 'disabled'>('breaker.mode'),
      failureRatio: read.number('breaker.failureRatio'),
      windowMs: read.ms('breaker.window'),
      minRequests: read.number('breaker.minRequests'),
      consecutiveFailures: read.number('breaker.consecutiveFailures'),
      openForMs: read.ms('breaker.openFor'),
      maxOpenForMs: read.ms('breaker.maxOpenFor'),
      whenOpen: read.word<'refuse' | 'wait'>('breaker.whenOpen'),
      slowCall: Object.freeze({
        afterMs: read.ms('breaker.slowCall.after'),
        ratio: read.number('breaker.slowCall.ratio'),
      }),
    }),
    limits: Object.freeze({
      maxInFlight: read.value('limits.maxInFlight') === 'auto' ? MOST_IN_FLIGHT : read.number('limits.maxInFlight'),
      adaptive: read.value('limits.maxInFlight') === 'auto',
      maxTunnels: read.number('limits.maxTunnels'),
      maxWaiting: read.number('limits.maxWaiting'),
      maxWaitingBytes: read.bytes('limits.maxWaitingBytes'),
    }),
    pace: Object.freeze({
      mode: read.word<'auto' | 'fixed' | 'disabled'>('pace.mode'),
      ratePerSec: read.number('pace.rate'),
      burst: read.number('pace.burst'),
    }),
    throttle: Object.freeze({
      mode: read.word<'enabled' | 'observe' | 'disabled'>('throttle.mode'),
      k: read.number('throttle.k'),
      windowMs: read.ms('throttle.window'),
    }),
    fault: Object.freeze({
      percent: read.number('fault.percent'),
      delayMs: read.ms('fault.delay'),
      status: read.value('fault.status') === undefined ? null : read.number('fault.status'),
      abort: read.flag('fault.abort'),
    }),
    hedge: hedge(read),
    fallback: fallback(read, fields),
    poll: compilePoll(read, backoff(read, 'poll.backoff')),
    park: park(read),
    propagate: read.flag('propagate'),
    longPoll: read.flag('longPoll'),
  })
}

export type FieldReader = ReturnType<typeof reader>

/** The schema and the format check have passed, so every field that is there has its type. */
export function reader(fields: Fields) {
  const value = (name: string) => fields.get(name)?.value
  return {
    value,
    number: (name: string) => Number(value(name)),
    flag: (name: string) => value(name) === true,
    word: <Word extends string>(name: string) => value(name) as Word,
    list: (name: string) => value(name) as readonly (string | number)[],
    /** `none` = Infinity. */
    ms: (name: string) => parseDurationMs(String(value(name))) ?? Number.POSITIVE_INFINITY,
    bytes: (name: string) => parseSizeBytes(String(value(name))) ?? 0,
  }
}

function timeouts(read: FieldReader): TimeoutSettings {
  const totalMs = read.ms('timeouts.total')
  return Object.freeze({
    connectMs: read.ms('timeouts.connect'),
    attemptMs: read.value('timeouts.attempt') === undefined ? totalMs : read.ms('timeouts.attempt'),
    totalMs,
    idleMs: read.ms('timeouts.idle'),
    responseMs: read.ms('timeouts.response'),
  })
}

function retry(read: FieldReader, fields: Fields): RetrySettings {
  return Object.freeze({
    maxAttempts: read.number('retry.maxAttempts'),
    retryOn: retryOn(read.list('retry.retryOn')),
    onHeaders: onHeaders(fields),
    backoff: backoff(read, 'retry.backoff'),
    throttled: backoff(read, 'retry.throttled'),
    retryAfter: Object.freeze({
      capMs: read.ms('retry.retryAfter.cap'),
      scope: read.word<'request' | 'upstream'>('retry.retryAfter.scope'),
    }),
    idempotency: Object.freeze({
      keyHeaders: Object.freeze(read.list('retry.idempotency.keyHeaders').map(name => String(name).toLowerCase())),
      generate: read.flag('retry.idempotency.generate'),
    }),
    maxBodyBytes: read.bytes('retry.maxBody'),
  })
}

function retryOn(list: readonly (string | number)[]): RetryOn {
  return Object.freeze({
    connect: list.includes('connect'),
    reset: list.includes('reset'),
    timeout: list.includes('timeout'),
    statuses: new Set(list.filter(item => typeof item === 'number')),
  })
}

function onHeaders(fields: Fields): readonly RetryHeader[] {
  const list = below(fields, 'retry.onHeaders.').map(([name, value]) =>
    Object.freeze({ name, value: value === '*' ? null : value }),
  )
  return Object.freeze(list)
}

function fallback(read: FieldReader, fields: Fields): FallbackSettings {
  return Object.freeze({
    when: new Set(read.list('fallback.when') as readonly FallbackCause[]),
    methods: new Set(read.list('fallback.methods') as readonly string[]),
    status: read.number('fallback.status'),
    headers: Object.freeze(below(fields, 'fallback.headers.').flat()),
    body: String(read.value('fallback.body') ?? ''),
    file: read.value('fallback.file') === undefined ? null : String(read.value('fallback.file')),
  })
}

/** Keys that the policy's writer chose, with their values. */
function below(fields: Fields, at: string): [string, string][] {
  return [...fields].flatMap(([name, { value }]) =>
    name.startsWith(at) ? [[name.slice(at.length), String(value)]] : [],
  )
}

function hedge(read: FieldReader): HedgeSettings {
  return Object.freeze({
    mode: read.word<HedgeSettings['mode']>('hedge.mode'),
    after: hedgeDelay(String(read.value('hedge.after'))),
    maxHedges: read.number('hedge.maxHedges'),
    minSamples: read.number('hedge.minSamples'),
    floorMs: read.ms('hedge.floor'),
    ceilingMs: read.ms('hedge.ceiling'),
    keyedWrites: read.flag('hedge.keyedWrites'),
  })
}

function hedgeDelay(text: string): HedgeDelay {
  const q = parseQuantile(text)
  if (q !== null) return Object.freeze({ kind: 'quantile', q })
  return Object.freeze({ kind: 'fixed', delayMs: parseDurationMs(text) ?? Number.POSITIVE_INFINITY })
}

function backoff(read: FieldReader, at: string): BackoffSettings {
  return Object.freeze({
    kind: read.word<BackoffSettings['kind']>(`${at}.kind`),
    baseMs: read.ms(`${at}.base`),
    factor: read.number(`${at}.factor`),
    capMs: read.ms(`${at}.cap`),
    jitter: jitter(read.value(`${at}.jitter`)),
  })
}

function jitter(value: unknown): Jitter {
  if (!Array.isArray(value)) return Object.freeze({ kind: value as Exclude<Jitter['kind'], 'range'> })
  return Object.freeze({ kind: 'range', low: Number(value[0]), high: Number(value[1]) })
}

function park(read: FieldReader): ParkSettings | null {
  const accept = read.word<ParkSettings['accept'] | 'never'>('park.accept')
  if (accept === 'never') return null
  return Object.freeze({
    accept,
    store: String(read.value('park.store')),
    firstMs: read.ms('park.first'),
    everyMs: read.ms('park.every'),
    maxAgeMs: read.ms('park.maxAge'),
    maxAttempts: read.number('park.maxAttempts'),
    maxBytes: read.bytes('park.maxBytes'),
    onParked: text(read.value('park.onParked')),
    onDead: text(read.value('park.onDead')),
    keyFile: text(read.value('park.keyFile')),
    secretHeaders: Object.freeze(read.list('park.secretHeaders').map(name => String(name).toLowerCase())),
  })
}

function text(value: unknown): string | null {
  return value === undefined ? null : String(value)
}
