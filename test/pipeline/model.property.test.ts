import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FALLBACK_CAUSES } from '../../src/core/fallback.js'
import type { AppCall } from './support/app-call.js'
import type { PolicyPart, UpstreamPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, type Play, reply } from './support/upstream.js'

checkEveryEnding()

const TOTAL_MS = 6000
const MAX_ATTEMPTS = 4

const rarely = fc.constantFrom(false, false, false, false, false, true)

const outcomes = fc.oneof(
  { weight: 6, arbitrary: fc.constant(reply(200)) },
  { weight: 3, arbitrary: fc.constant(reply(200, { bodyMs: 700 })) },
  { weight: 8, arbitrary: fc.constant(reply(503)) },
  { weight: 4, arbitrary: fc.constant(reply(429, { headers: { 'Retry-After': '2' } })) },
  { weight: 3, arbitrary: fc.constant(fail('connect')) },
  fc.constantFrom<Play>(
    reply(503, { bodyMs: 400 }),
    reply(503, { body: 'x'.repeat(20_000) }),
    reply(503, { headers: { 'Retry-After': '1' } }),
    reply(503, { headers: { 'Retry-After': '600' } }),
    reply(503, { headers: { 'forbear-exhausted': 'reset' } }),
    reply(404),
    reply(409),
    reply(500),
    reply(200, { bodyMs: 200, cut: true }),
    reply(200, { afterMs: 1500 }),
    fail('connect', { permanent: true }),
    fail('reset'),
    fail('reset', { idleMs: 5000 }),
    fail('bad-response'),
    hang(),
  ),
)

/** What the upstream does, for so long: mostly one thing, so that breakers and gates come to close and open. */
const weather = fc.record({ usual: outcomes, odd: outcomes, oddEvery: fc.integer({ min: 2, max: 12 }) })

type PacePart = NonNullable<PolicyPart['pace']>
type FaultPart = NonNullable<PolicyPart['fault']>

const policies = fc.record({
  whenOpen: fc.constantFrom('wait', 'refuse'),
  mode: fc.constantFrom('enforce', 'enforce', 'enforce', 'observe', 'disabled'),
  scope: fc.constantFrom('upstream', 'request'),
  maxInFlight: fc.integer({ min: 1, max: 6 }),
  maxWaiting: fc.constantFrom(0, 3, 30, 30, 30),
  maxAttempts: fc.constantFrom(1, 2, MAX_ATTEMPTS, MAX_ATTEMPTS),
  ownRoute: fc.boolean(),
  hedgeAfterMs: fc.constantFrom(null, 5, 40, 400),
  host: fc.constantFrom('a.example.com', 'a.example.com', 'b.example.com'),
  pace: fc.oneof(
    { weight: 3, arbitrary: fc.constant<PacePart>({ mode: 'disabled' }) },
    { weight: 2, arbitrary: fc.constant<PacePart>({ mode: 'auto' }) },
    fc.record({
      mode: fc.constant<'fixed'>('fixed'),
      ratePerSec: fc.constantFrom(0.01, 0.5, 2, 10, 50),
      burst: fc.constantFrom(1, 1, 3, 200),
    }),
  ),
  throttle: fc.constantFrom('disabled', 'disabled', 'enabled', 'observe'),
  adaptive: fc.boolean(),
  fallback: fc.boolean(),
  fault: fc.constantFrom<FaultPart>(
    { percent: 0 },
    { percent: 50, status: 503, delayMs: 30 },
    { percent: 50, abort: true },
    { percent: 50, delayMs: 200 },
  ),
})
type Choice = typeof policies extends fc.Arbitrary<infer T> ? T : never

const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('run'), ms: fc.integer({ min: 1, max: 1500 }) }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('call'),
      method: fc.constantFrom('GET', 'GET', 'POST', 'PUT'),
      body: fc.constantFrom(null, 100, 100, 100_000),
      uploading: rarely,
      keyed: fc.boolean(),
      marked: rarely,
      timeoutMs: fc.constantFrom(null, null, null, 300, 2000),
      route: fc.boolean(),
      count: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('hang-up'), which: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('weather'), weather }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit'), policy: policies }) },
  fc.record({ do: fc.constant('remove'), valid: fc.boolean(), ms: fc.integer({ min: 0, max: 500 }) }),
  fc.record({ do: fc.constant('kill'), ms: fc.integer({ min: 0, max: 3000 }) }),
  fc.record({ do: fc.constant('rehearse'), ms: fc.integer({ min: 0, max: 3000 }) }),
  fc.record({ do: fc.constant('force'), state: fc.constantFrom('open', 'closed', 'auto') }),
  fc.record({ do: fc.constant('upgrade'), status: fc.constantFrom(101, 503, 0) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function upstreamOf(choice: Choice): UpstreamPart {
  const { whenOpen, mode, scope, maxInFlight, maxWaiting, maxAttempts, ownRoute, host, hedgeAfterMs } = choice
  const { pace, throttle, adaptive, fallback, fault } = choice
  const policy: PolicyPart = {
    timeouts: { totalMs: TOTAL_MS, attemptMs: 1000 },
    retry: { maxAttempts, retryAfter: { scope, capMs: 4000 } },
    breaker: { whenOpen, mode, consecutiveFailures: 4, minRequests: 8, maxOpenForMs: 3000 },
    limits: { maxInFlight, maxWaiting, adaptive },
    pace,
    throttle: { mode: throttle, windowMs: 5000 },
    fault,
    fallback: { when: new Set(fallback ? FALLBACK_CAUSES : []), methods: new Set(['GET', 'POST']) },
    ...(hedgeAfterMs !== null && {
      hedge: { mode: 'enabled', after: { kind: 'fixed', delayMs: hedgeAfterMs }, maxHedges: 2, keyedWrites: true },
    }),
  }
  const own = {
    breaker: ownRoute,
    pace: ownRoute,
    limits: ownRoute,
    budget: ownRoute,
    throttle: ownRoute,
    hedge: ownRoute,
  }
  return { host, policy, maxConnections: 5, routes: [{ name: 'r', path: '/r', own }] }
}

class Model {
  readonly stage: Stage
  readonly #keyed = new Set<AppCall>()
  #weather = { usual: reply(200), odd: reply(200), oddEvery: 2 }
  #present: Choice

  constructor(policy: Choice, seed: number) {
    let state = seed
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    }
    this.#present = policy
    this.stage = new Stage({}, { upstreams: [upstreamOf(policy)], random })
    this.stage.upstream.decides(n => (n % this.#weather.oddEvery === 0 ? this.#weather.odd : this.#weather.usual))
  }

  async take(step: Step): Promise<void> {
    const { stage } = this
    const { pipeline } = stage
    if (step.do === 'run') await stage.run((step as { ms: number }).ms)
    else if (step.do === 'call') this.#call(step as Extract<Step, { count: number }>)
    else if (step.do === 'hang-up') {
      const open = stage.calls.filter(call => !call.over)
      open[(step as { which: number }).which % open.length]?.hangUp()
    } else if (step.do === 'weather') this.#weather = (step as Extract<Step, { weather: unknown }>).weather
    else if (step.do === 'edit') this.#edit((step as { policy: Choice }).policy)
    else if (step.do === 'remove') await this.#removeFor(step as Extract<Step, { valid: boolean }>)
    else if (step.do === 'kill') pipeline.switches.turnRetriesOff((step as { ms: number }).ms)
    else if (step.do === 'rehearse') pipeline.switches.turnFaultsOn((step as { ms: number }).ms)
    else if (step.do === 'force') pipeline.forceBreaker('api', (step as { state: 'open' | 'closed' | 'auto' }).state)
    else this.#upgrade((step as { status: number }).status)
    this.#checkNow()
  }

  /** The outage is over, the operator's hands are off: soon everything is as if nothing had been. */
  async recover(): Promise<void> {
    const { stage } = this
    this.#weather = { usual: reply(200), odd: reply(200), oddEvery: 2 }
    stage.pipeline.switches.turnRetriesOff(0)
    stage.pipeline.switches.turnFaultsOn(0)
    const usual = { maxInFlight: 3, maxWaiting: 30, hedgeAfterMs: null, pace: { mode: 'disabled' } } as const
    this.#edit({ ...this.#present, ...usual })
    stage.pipeline.forceBreaker('api', 'auto')
    for (const call of stage.calls) if (call.body?.complete === false) call.body.end()
    await stage.finish()
    await stage.run(10_000)
    for (const path of ['/final-1', '/final-2', '/r']) {
      const call = stage.get(path)
      await stage.run(1000)
      expect(call.summary, path).toBe('200 delivered after 1')
    }
    this.#upgrade(101)
    this.checkSent()
    await stage.end()
  }

  /** Never too many attempts, and never a second sending of what may not be repeated. */
  checkSent(): void {
    for (const call of this.stage.calls) {
      const sent = this.stage.upstream.sent.filter(sent => sent.call === call)
      const numbers = sent.map(sent => Number(sent.fields['forbear-attempt']))
      expect(Math.max(0, ...numbers)).toBeLessThanOrEqual(MAX_ATTEMPTS)
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
      if (call.method !== 'POST' || this.#keyed.has(call)) continue
      const reached = sent.filter(({ play }) => play.kind !== 'fail' || play.failure !== 'connect')
      expect(reached.length, `sendings of ${call.sentPath}`).toBeLessThanOrEqual(1)
    }
  }

  #call(options: Extract<Step, { count: number }>): void {
    const { method, body, uploading, keyed, marked, timeoutMs, route, count } = options
    const headers: Record<string, string> = {}
    if (keyed) headers['idempotency-key'] = 'k'
    if (marked) headers['forbear-attempt'] = '2'
    if (timeoutMs !== null) headers['forbear-timeout-ms'] = String(timeoutMs)
    for (let n = 0; n < count; n++) {
      const path = route ? '/r' : `/${this.stage.calls.length}`
      const bodyBytes = method === 'GET' || body === null ? {} : { bodyBytes: body }
      const call = this.stage.call(method, path, { headers, uploading, ...bodyBytes })
      if (keyed) this.#keyed.add(call)
    }
  }

  async #removeFor({ valid, ms }: Extract<Step, { valid: boolean }>): Promise<void> {
    this.stage.apply([], valid ? [] : ['api'])
    const refused = this.stage.get('/removed')
    expect(refused.outcome).toBe(valid ? 'no-route' : 'no-policy')
    await this.stage.run(ms)
    this.#edit(this.#present)
  }

  #edit(policy: Choice): void {
    this.#present = policy
    this.stage.apply([upstreamOf(policy)])
  }

  #upgrade(status: number): void {
    const decision = this.stage.handshake('/socket')
    if (!decision.proceed) return
    decision.onOutcome(status === 0 ? { kind: 'connect', code: 'X' } : { kind: 'response', status })
    decision.onClosed({ toUpstream: 0, toApp: 0 })
  }

  #checkNow(): void {
    for (const { inFlight, waiting, waitingBytes } of this.stage.pipeline.statuses()) {
      expect(Math.min(inFlight, waiting, waitingBytes)).toBeGreaterThanOrEqual(0)
    }
    const nowMs = this.stage.clock.nowMs()
    for (const call of this.stage.calls) {
      const overdue = !call.over && call.head === null && call.body?.complete !== false
      if (overdue) expect(nowMs - call.readyAtMs, `still waiting: ${call.sentPath}`).toBeLessThanOrEqual(TOTAL_MS)
    }
  }
}

describe('whatever happens to many concurrent requests', () => {
  it('each ends once and in time, nothing is left of it, and the upstream is served again when it is well', async () => {
    await fc.assert(
      fc.asyncProperty(
        policies,
        fc.array(step, { minLength: 5, maxLength: 80, size: 'max' }),
        fc.integer({ min: 1 }),
        async (policy, steps, seed) => {
          const model = new Model(policy, seed)
          for (const each of steps) await model.take(each)
          await model.recover()
        },
      ),
      { numRuns: 100 },
    )
  })
})
