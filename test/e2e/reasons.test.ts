/**
 * Every word of the closed lists, driven once through a running sidecar and looked for in the four places that tell of it.
 * A word that is new fails here until somebody has driven it.
 */
import { rm } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import {
  DELIVERED_OUTCOMES,
  DENIAL_REASONS,
  type DenialReason,
  type Outcome,
  OWN_REASONS,
  UNANSWERED_OUTCOMES,
} from '../../src/core/reasons.js'
import { type CallOptions, lastCall } from './harness/client.js'
import { ample, type Document, quickRetry, temporary, toYaml, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { LogLine, Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Behaviour, Upstream } from './harness/upstream.js'

/** What one word is driven with. */
interface Scene {
  readonly stage: Stage
  readonly upstream: Upstream
  /** With one upstream named `u` at `upstream`, unless a target is given. */
  sidecar(spec?: Document, args?: readonly string[], target?: string): Promise<Sidecar>
}

interface Driven {
  readonly sidecar: Sidecar
  /** `forbear-outcome` of the answer; `null` = it had none. */
  readonly header: string | null
}

type Drive = (scene: Scene) => Promise<Driven>

/** Where a word cannot be, and why. */
interface Absence {
  readonly header?: string
  readonly line?: string
}

interface Row {
  readonly drive: Drive
  readonly absent?: Absence
  /** In the metrics and in `/status`; default `u`, `null` = of no upstream. */
  readonly upstream?: null
  /** Of a denial: the outcome that the same call ends with. */
  readonly outcome?: Outcome
}

const bad: Behaviour = { status: 503, body: 'busy' }
const once = { maxAttempts: 1 }
const twice = quickRetry({ maxAttempts: 2 })
const post: CallOptions = { method: 'POST', body: 'x' }

/** One call to what the upstream does each time; the last one's outcome counts. */
const calls =
  (behaviours: readonly Behaviour[], spec: Document = {}, options: CallOptions = {}, path = '/u/x'): Drive =>
  async scene => {
    const [first = {}, ...rest] = behaviours
    scene.upstream.plays(first, ...rest)
    const sidecar = await scene.sidecar({ budget: ample, ...spec })
    const answer = await sidecar.call(path, options)
    return { sidecar, header: String(answer.headers['forbear-outcome']) }
  }

/** Calls until one has the outcome. */
const callsUntil =
  (outcome: Outcome, spec: Document, behaviour: Behaviour): Drive =>
  async scene => {
    scene.upstream.plays(behaviour)
    const sidecar = await scene.sidecar(spec)
    const header = await until(`a call ends with ${outcome}`, async () => {
      const answer = await sidecar.call('/u/x')
      return answer.headers['forbear-outcome'] === outcome ? outcome : null
    })
    return { sidecar, header }
  }

/** Bytes on the shared port, and the outcome in the head of the answer. */
const sends =
  (bytes: string): Drive =>
  async scene => {
    const sidecar = await scene.sidecar()
    const text = await lastCall(sidecar.port, bytes)
    return { sidecar, header: /^forbear-outcome: (.*)\r$/im.exec(text)?.[1] ?? null }
  }

const nobody: Drive = async scene => {
  const sidecar = await scene.sidecar({ retry: once }, [], `http://127.0.0.1:${await freePort()}`)
  return { sidecar, header: String((await sidecar.call('/u/x')).headers['forbear-outcome']) }
}

const brokenAnswer: Drive = async scene => {
  const raw = await scene.stage.rawUpstream(socket => socket.end('this is no HTTP\r\n\r\n'))
  const sidecar = await scene.sidecar({ retry: once }, [], raw.url)
  return { sidecar, header: String((await sidecar.call('/u/x')).headers['forbear-outcome']) }
}

const brokenBody: Drive = async scene => {
  const raw = await scene.stage.rawUpstream(socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'))
  const sidecar = await scene.sidecar({}, [], raw.url)
  await sidecar.call('/u/x').catch(() => null)
  return { sidecar, header: null }
}

const appLeaves: Drive = async scene => {
  scene.upstream.plays({ instead: 'hang' })
  const sidecar = await scene.sidecar()
  const app = new AbortController()
  const left = sidecar.call('/u/x', { signal: app.signal }).catch(() => null)
  await until('the upstream is called', () => scene.upstream.hits === 1)
  app.abort()
  await left
  await sidecar.accessLine('/u/x')
  return { sidecar, header: null }
}

const appStalls: Drive = async scene => {
  scene.upstream.plays({})
  const sidecar = await scene.sidecar({ timeouts: { idle: '200ms' } })
  const head = 'POST /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'
  const text = await lastCall(sidecar.port, head)
  return { sidecar, header: /^forbear-outcome: (.*)\r$/im.exec(text)?.[1] ?? null }
}

const breakerOpen: Drive = async scene => {
  const sidecar = await scene.sidecar()
  await sidecar.admin('/upstreams/u/breaker?set=open', { method: 'POST' })
  return { sidecar, header: String((await sidecar.call('/u/x')).headers['forbear-outcome']) }
}

const full: Drive = async scene => {
  scene.upstream.plays({ instead: 'hang' })
  const sidecar = await scene.sidecar({ limits: { maxInFlight: 1, maxWaiting: 0 } })
  const hanging = sidecar.call('/u/first', { timeoutMs: 20_000 }).catch(() => null)
  await until('the slot is taken', () => scene.upstream.hits === 1)
  const answer = await sidecar.call('/u/x')
  scene.stage.later(() => hanging)
  return { sidecar, header: String(answer.headers['forbear-outcome']) }
}

const drained: Drive = async scene => {
  scene.upstream.plays({ instead: 'hang' })
  const sidecar = await scene.sidecar({}, ['--drain-period', '1500ms'])
  const hanging = sidecar.call('/u/x')
  await until('the upstream is called', () => scene.upstream.hits === 1)
  sidecar.signal('SIGTERM')
  return { sidecar, header: String((await hanging).headers['forbear-outcome']) }
}

const leftOut: Drive = async scene => {
  const documents = toYaml(upstreamDoc('u', 'http://127.0.0.1:9'), upstreamDoc('v', 'http://127.0.0.1:9', { retri: 1 }))
  const dir = await scene.stage.policyDir({ 'p.yaml': documents })
  const sidecar = await scene.stage.sidecar(dir, ['--start', 'valid-only'])
  return { sidecar, header: String((await sidecar.call('/v/x')).headers['forbear-outcome']) }
}

const loop: Drive = async scene => {
  const sidecar = await scene.sidecar()
  await sidecar.call('/u/y')
  const via = scene.upstream.nth(1).headers['via']
  const answer = await sidecar.call('/u/x', { headers: { Via: `${via}, ${via}` } })
  return { sidecar, header: String(answer.headers['forbear-outcome']) }
}

const parks: Drive = async scene => {
  const store = await temporary()
  scene.stage.later(() => rm(store, { recursive: true, force: true }))
  const park = { accept: 'always', store, first: '1h' }
  const headers = { 'Idempotency-Key': 'k' }
  return calls([bad], { retry: once, park }, { ...post, headers })(scene)
}

const retriesOff: Drive = async scene => {
  scene.upstream.plays(bad)
  const sidecar = await scene.sidecar({ budget: ample })
  await sidecar.admin('/retries/off?for=10m', { method: 'POST' })
  return { sidecar, header: String((await sidecar.call('/u/x')).headers['forbear-outcome']) }
}

const opensWithin = {
  retry: { maxAttempts: 5, backoff: { kind: 'fixed', base: '150ms', jitter: 'none' } },
  breaker: { consecutiveFailures: 2, openFor: '30s', maxOpenFor: '30s' },
}
const hintedGate = { retry: { ...once, retryAfter: { scope: 'upstream', cap: '20s' } }, timeouts: { total: '5s' } }
const waits = (base: string): Document => ({ backoff: { kind: 'fixed', base, jitter: 'none' } })
const layered: CallOptions = { headers: { 'forbear-attempt': '2' } }

const layer = calls([bad], { retry: twice }, layered)
const exhausted = calls([bad], { retry: twice })
const unpaid = calls([bad], { retry: quickRetry({ maxAttempts: 5 }), budget: { ratio: 0, minPerSecond: 0.1 } })
const unrepeatable = calls([bad], { retry: twice }, post)
const tooLarge = calls([bad], { retry: { ...twice, maxBody: '1KiB' } }, { method: 'PUT', body: 'x'.repeat(4096) })
const tooLong = calls([{ ...bad, headers: { 'Retry-After': '3600' } }], { retry: twice })

const NO_REQUEST = 'what came was no request: a warning names the reason, method and path are not known'
const NOBODY_THERE = 'nobody is there any more to be answered'
const HEAD_GONE = 'the head had been passed on before the body broke'

const OUTCOMES: Readonly<Record<Outcome, Row>> = {
  delivered: { drive: calls([{}]) },
  'breaker-open': { drive: breakerOpen },
  deadline: { drive: calls([{ instead: 'hang' }], {}, { headers: { 'forbear-timeout-ms': '100' } }) },
  layer: { drive: layer },
  'retries-exhausted': { drive: exhausted },
  'budget-exhausted': { drive: unpaid },
  'not-repeatable': { drive: unrepeatable },
  'body-too-large': { drive: tooLarge },
  'retry-after-too-long': { drive: tooLong },
  'hedge-won': { drive: calls([{ delayMs: 10_000 }, {}], { hedge: { after: '50ms' } }) },
  fallback: { drive: calls([bad], { retry: twice, fallback: { when: ['retries-exhausted'], body: 'ours' } }) },
  'poll-pending': {
    drive: calls([{ status: 202 }], {
      routes: [
        {
          name: 'job',
          match: { path: '/x' },
          poll: {
            until: { status: [200] },
            backoff: { kind: 'fixed', base: '100ms', jitter: 'none' },
            maxWait: '1s',
          },
        },
      ],
    }),
  },
  parked: { drive: parks },
  'no-route': { drive: calls([{}], {}, {}, '/nowhere'), upstream: null },
  'bad-request': { drive: appStalls },
  loop: { drive: loop, upstream: null },
  connect: { drive: nobody },
  reset: { drive: calls([{ instead: 'reset' }], { retry: once }) },
  'bad-response': { drive: brokenAnswer },
  'attempt-timeout': { drive: calls([{ instead: 'hang' }], { retry: once, timeouts: { attempt: '100ms' } }) },
  overloaded: { drive: full },
  'gate-closed': { drive: callsUntil('gate-closed', hintedGate, { ...bad, headers: { 'Retry-After': '15' } }) },
  draining: { drive: drained },
  'no-policy': { drive: leftOut, upstream: null },
  throttled: {
    drive: callsUntil('throttled', { retry: once, breaker: { mode: 'disabled' }, throttle: { k: 1 } }, bad),
  },
  'headers-too-large': {
    drive: sends(`GET /u/x HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`),
    absent: { line: NO_REQUEST },
    upstream: null,
  },
  aborted: { drive: appLeaves, absent: { header: NOBODY_THERE } },
  cut: { drive: brokenBody, absent: { header: HEAD_GONE } },
}

const DENIALS: Readonly<Record<DenialReason, Row>> = {
  'not-repeatable': { drive: unrepeatable },
  'body-too-large': { drive: tooLarge },
  'retries-exhausted': { drive: exhausted },
  'retry-after-too-long': { drive: tooLong },
  deadline: { drive: calls([bad], { retry: waits('3s'), timeouts: { total: '2s' } }) },
  'breaker-open': { drive: calls([bad], opensWithin) },
  'budget-exhausted': { drive: unpaid },
  layer: { drive: layer },
  pushback: {
    drive: calls([{ ...bad, headers: { 'x-envoy-overloaded': 'true' } }], { retry: twice }),
    outcome: 'delivered',
  },
  'retries-off': { drive: retriesOff, outcome: 'retries-exhausted' },
}

interface CountedStatus {
  readonly counts: { readonly outcomes: Record<string, number>; readonly retriesDenied: Record<string, number> }
}

async function play(stage: Stage, { drive, upstream }: Row) {
  const target = await stage.upstream()
  const sidecar = (spec: Document = {}, args: readonly string[] = [], url = target.url) =>
    stage.sidecar([upstreamDoc('u', url, spec)], args)
  const driven = await drive({ stage, upstream: target, sidecar })
  const status = (await driven.sidecar.status()) as unknown as {
    upstreams: Record<string, CountedStatus>
    unrouted: CountedStatus
  }
  const { counts } = upstream === null ? status.unrouted : (status.upstreams['u'] as CountedStatus)
  return { ...driven, counts, metrics: await driven.sidecar.metrics(), label: upstream === null ? '_none' : 'u' }
}

function lineWith(sidecar: Sidecar, field: 'outcome' | 'denied', word: string): Promise<LogLine> {
  return until(`a line with ${field} ${word}`, () => sidecar.accessLines().find(line => line[field] === word))
}

describe.concurrent('each outcome', () => {
  for (const word of new Set([...DELIVERED_OUTCOMES, ...OWN_REASONS, ...UNANSWERED_OUTCOMES])) {
    test(`${word} is in metric, /status, header and log`, async ({ stage }) => {
      const row = OUTCOMES[word]
      const { sidecar, header, metrics, counts, label } = await play(stage, row)
      expect(metrics.sum('forbear_requests_total', { upstream: label, outcome: word })).toBeGreaterThan(0)
      expect(counts.outcomes[word]).toBeGreaterThan(0)
      if (row.absent?.header === undefined) expect(header).toBe(word)
      else expect(header).toBeNull()
      if (row.absent?.line === undefined) await lineWith(sidecar, 'outcome', word)
      else
        expect(sidecar.logs).toContainEqual(
          expect.objectContaining({ detail: expect.objectContaining({ reason: word }) }),
        )
    })
  }
})

describe.concurrent('each reason for no further attempt', () => {
  for (const word of DENIAL_REASONS) {
    test(`${word} is in metric, /status, header and log`, async ({ stage }) => {
      const row = DENIALS[word]
      const { sidecar, header, metrics, counts } = await play(stage, row)
      expect(metrics.sum('forbear_retries_denied_total', { upstream: 'u', reason: word })).toBeGreaterThan(0)
      expect(counts.retriesDenied[word]).toBeGreaterThan(0)
      expect(header).toBe(row.outcome ?? word)
      expect((await lineWith(sidecar, 'denied', word))['outcome']).toBe(row.outcome ?? word)
    })
  }
})

describe('bytes that are no request', () => {
  test('are counted by the reason of their answer, on the port of an upstream as its own', async ({ stage }) => {
    const port = await freePort()
    const sidecar = await stage.sidecar([upstreamDoc('u', 'http://127.0.0.1:9', { listen: `127.0.0.1:${port}` })])
    expect(await lastCall(port, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    expect(await lastCall(sidecar.port, 'no HTTP at all\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    const metrics = await sidecar.metrics()
    const refused = { method: 'OTHER', code: '4xx', outcome: 'bad-request' }
    expect(metrics.sum('forbear_requests_total', { ...refused, upstream: 'u' })).toBe(1)
    expect(metrics.sum('forbear_requests_total', { ...refused, upstream: '_none' })).toBe(1)
  })
})
