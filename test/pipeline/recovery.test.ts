import { describe, expect, it } from 'vitest'
import type { AppCall } from './support/app-call.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { type Play, reply } from './support/upstream.js'

checkEveryEnding()

const ROOM = { limits: { maxWaiting: 5000 }, timeouts: { totalMs: 10_000 } } as const
const WAIT: PolicyPart = { ...ROOM, breaker: { whenOpen: 'wait' } }
const GATE: PolicyPart = { ...ROOM, retry: { retryAfter: { scope: 'upstream' } } }

const ok = reply(200, { afterMs: 5 })
const unavailable = reply(503)
const throttled = reply(429, { headers: { 'Retry-After': '1' } })

/** GETs at a steady rate until `untilMs`. */
async function load(stage: Stage, perSec: number, untilMs: number): Promise<void> {
  while (stage.clock.nowMs() < untilMs) {
    stage.get(`/${stage.calls.length}`)
    await stage.run(1000 / perSec)
  }
}

interface Outage {
  readonly fromMs: number
  readonly toMs: number
  readonly play: Play
  /** What the upstream answers before and after. */
  readonly usual: (n: number, nowMs: number) => Play
}

function scriptOutage(stage: Stage, { fromMs, toMs, play, usual }: Outage): void {
  stage.upstream.decides(n => {
    const nowMs = stage.clock.nowMs()
    return nowMs >= fromMs && nowMs < toMs ? play : usual(n, nowMs)
  })
}

const everyNth =
  (nth: number): Outage['usual'] =>
  n =>
    n % nth === 0 ? unavailable : ok

/** Calls sent in the second from `fromMs`. */
const sentIn = (stage: Stage, fromMs: number) =>
  stage.upstream.times.filter(at => at >= fromMs && at < fromMs + 1000).length

/** Whoever comes now is sent at once. */
async function expectNoLine(stage: Stage): Promise<void> {
  const newcomer = stage.get('/newcomer')
  expect(stage.upstream.sent.at(-1)?.call).toBe(newcomer)
  await stage.finish()
}

const PER_SEC = 50

interface Scenario {
  readonly policy: PolicyPart
  readonly outage: Outage
  /** From the end of the outage to the end of the line. The backlog goes at 0.3 × the load. */
  readonly emptyAfterMs: number
}

async function expectRecovery({ policy, outage, emptyAfterMs }: Scenario): Promise<void> {
  const stage = new Stage(policy)
  scriptOutage(stage, outage)
  const endMs = outage.toMs + emptyAfterMs
  await load(stage, PER_SEC, endMs)
  // A probe is awaited for up to a second or two, then the ramp begins.
  for (let fromMs = outage.toMs + 3000; fromMs < endMs; fromMs += 1000) {
    expect(sentIn(stage, fromMs), `sent from ${fromMs}`).toBeGreaterThanOrEqual(PER_SEC / 2)
  }
  await expectNoLine(stage)
  expect(stage.calls.filter(call => call.outcome === 'deadline')).toEqual([])
}

describe('the line after an outage empties', () => {
  const later = { fromMs: 4000, toMs: 6000 }
  const first = { fromMs: 0, toMs: 2000 }
  const blips = everyNth(45)

  it('when every second before had a failed call', () =>
    expectRecovery({ policy: WAIT, outage: { ...later, play: unavailable, usual: blips }, emptyAfterMs: 12_000 }))

  it('when the outage is in the very first second', () =>
    expectRecovery({ policy: WAIT, outage: { ...first, play: unavailable, usual: () => ok }, emptyAfterMs: 12_000 }))

  it('when it was the gate that held them, and every second before had a failed call', () =>
    expectRecovery({ policy: GATE, outage: { ...later, play: throttled, usual: blips }, emptyAfterMs: 12_000 }))

  it('when the gate closes in the very first second', () =>
    expectRecovery({ policy: GATE, outage: { ...first, play: throttled, usual: blips }, emptyAfterMs: 13_000 }))

  it('with one of fifty calls failing before and after', () =>
    expectRecovery({
      policy: WAIT,
      outage: { ...later, play: unavailable, usual: everyNth(50) },
      emptyAfterMs: 12_000,
    }))

  it('with one of fifty calls failing after it only', () => {
    const usual: Outage['usual'] = (n, nowMs) => (nowMs > 4000 ? everyNth(50)(n, nowMs) : ok)
    return expectRecovery({ policy: WAIT, outage: { ...later, play: unavailable, usual }, emptyAfterMs: 13_000 })
  })

  it('with three of ten calls failing before and after', () => {
    const usual: Outage['usual'] = n => (n % 10 < 3 ? unavailable : ok)
    const outage = { fromMs: 4000, toMs: 5500, play: unavailable, usual }
    return expectRecovery({ policy: WAIT, outage, emptyAfterMs: 16_000 })
  })
})

describe('a line with few slots', () => {
  it('is served first come first served, and no newcomer overtakes it', async () => {
    const stage = new Stage({ ...WAIT, limits: { maxInFlight: 2, maxWaiting: 5000 } })
    await load(stage, PER_SEC, 3000)
    stage.upstream.plays(unavailable)
    await stage.openBreaker()
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200, { afterMs: 45 }))
    const post = async () => {
      stage.post(`/${stage.calls.length}`)
      await stage.run(20)
    }
    const came = stage.calls.length
    for (let n = 0; n < 200; n++) await post()
    await stage.finish()
    const numbers = stage.upstream.paths.slice(before).map(path => Number(path.slice(1)))
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => came + n))
  })
})

describe('a pool that is the bottleneck', () => {
  const routes = [{ name: 'r', path: '/r', policy: { limits: { maxInFlight: 50 } }, own: { limits: true } }]

  it('serves a route with limits of its own in turn, though the queue of the others is always full', async () => {
    const stage = new Stage({}, { upstreams: [{ maxConnections: 2, routes }] })
    stage.upstream.plays(reply(200, { afterMs: 50 }))
    const others: AppCall[] = []
    const rare: AppCall[] = []
    for (let ms = 0; ms < 3000; ms += 10) {
      while (others.filter(call => !call.over).length < 8) others.push(stage.get(`/${stage.calls.length}`))
      if (ms % 100 === 0) rare.push(stage.get('/r'))
      await stage.run(10)
    }
    const waitedMs = rare.map(call => (call.answeredAtMs ?? Number.POSITIVE_INFINITY) - call.readyAtMs)
    expect(Math.max(...waitedMs.slice(0, -4))).toBeLessThanOrEqual(200)
    // Of some 120 answers.
    expect(others.filter(call => call.over).length).toBeGreaterThan(60)
  })

  it('serves the others in turn, though the queue of the route is always full', async () => {
    const stage = new Stage({}, { upstreams: [{ maxConnections: 2, routes }] })
    stage.upstream.plays(reply(200, { afterMs: 50 }))
    for (let n = 0; n < 40; n++) stage.get('/r')
    const other = stage.get('/other')
    await stage.run(200)
    expect(other.summary).toBe('200 delivered after 1')
  })
})

describe('calls in line when their upstream goes', () => {
  /** Some seconds of health, then an outage, then many in line; two of them have been let go by the ramp. */
  async function lineOf(count: number, stage: Stage): Promise<AppCall[]> {
    await load(stage, 20, 3000)
    stage.upstream.plays(unavailable)
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    const line = Array.from({ length: count }, (_, n) => stage.post(`/w-${n}`))
    while (stage.status().breaker.state !== 'closed') await stage.run(10)
    await stage.run(200)
    return line
  }

  for (const [what, upstreams] of [
    ['moves', [{ host: 'elsewhere.example.com', policy: WAIT }]],
    ['is removed', []],
  ] as const) {
    it(`are answered at once when it ${what}, though the line is being let go, and none is sent`, async () => {
      const stage = new Stage(WAIT)
      const line = await lineOf(40, stage)
      const left = line.filter(call => !call.over)
      expect(left.length).toBeGreaterThan(20)
      const sent = stage.upstream.sent.length
      stage.apply(upstreams)
      expect(new Set(left.map(call => call.summary))).toEqual(new Set(['503 breaker-open after 0']))
      expect(new Set(left.map(call => call.header('retry-after')))).toEqual(new Set(['1']))
      await stage.run(5000)
      expect(stage.upstream.sent).toHaveLength(sent)
    })
  }

  it('get their last answer when they have one', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.playsByPath({ '/slow': [reply(503, { afterMs: 400, body: 'last' })] }, unavailable)
    const slow = stage.get('/slow')
    await stage.openBreaker()
    await stage.run(500)
    expect(slow.summary).toBe('waiting')
    stage.apply([{ host: 'elsewhere.example.com', policy: WAIT }])
    expect(slow.summary).toBe('503 breaker-open after 1')
    expect(slow.text).toBe('last')
  })

  it('are told of the gate when it was the gate that held them', async () => {
    const stage = new Stage(GATE)
    stage.upstream.plays(throttled)
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, { headers: { 'forbear-max-attempts': '1' } })
    await stage.run(20)
    const waits = stage.post('/waits')
    stage.apply([])
    expect(waits.outcome).toBe('gate-closed')
    expect(waits.header('retry-after')).toBe('1')
  })
})

describe('a full waiting room', () => {
  it('counts bodies that come in while their calls wait', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1, maxWaitingBytes: 1000 } })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    stage.get('/hog')
    const uploads = [400, 500, 101, 100].map((bodyBytes, n) =>
      stage.call('PUT', `/${n}`, { bodyBytes, uploading: true }),
    )
    expect(stage.status()).toMatchObject({ waiting: 4, waitingBytes: 0 })
    const waitingBytes = uploads.map(call => {
      call.body?.end()
      return stage.status().waitingBytes
    })
    expect(waitingBytes).toEqual([400, 900, 900, 1000])
    expect(uploads[2]?.summary).toBe('503 overloaded after 0')
    expect(uploads[2]?.header('retry-after')).toBe('1')
    await stage.finish()
    expect(uploads.map(call => call.status)).toEqual([200, 200, 503, 200])
  })

  it('tells when to come again, for a slot, the line and an upgrade', async () => {
    const slots = new Stage({ limits: { maxInFlight: 1, maxWaiting: 1 } })
    const [, , overSlots] = [1, 2, 3].map(n => slots.get(`/${n}`))
    expect(overSlots?.summary).toBe('503 overloaded after 0')
    expect(overSlots?.header('retry-after')).toBe('1')
    const upgrade = slots.handshake('/socket')
    expect(upgrade.proceed === false && upgrade.answer.headers).toEqual(expect.arrayContaining(['retry-after', '1']))

    const line = new Stage({ ...WAIT, limits: { maxWaiting: 1 } })
    line.upstream.plays(unavailable)
    await line.openBreaker()
    line.upstream.plays(ok)
    const [, overLine] = [1, 2].map(n => line.post(`/${n}`))
    expect(overLine?.summary).toBe('503 overloaded after 0')
    expect(overLine?.header('retry-after')).toBe('1')
  })
})
