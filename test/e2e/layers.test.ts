/**
 * Three sidecars in a chain, four attempts each, and an upstream that fails: how often it is called for one request.
 * Between two of them stands nobody, or somebody who drops fields; that one sits in this process and repeats nothing.
 */
import { describe, expect, it } from 'vitest'
import type { Answer } from './harness/client.js'
import { openLoop } from './harness/load.js'
import { onOneStage } from './harness/one-stage.js'
import { ample, type Document, quickRetry, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import type { Stage } from './harness/stage.js'
import { nowMs } from './harness/time.js'
import type { Behaviour, Received, Upstream } from './harness/upstream.js'

/** `minPerSecond × window` of the built-in budget, and the window. */
const FLOOR = 5
const WINDOW_MS = 10_000
const MARK = /^(forbear-|baggage$)/
const bad: Behaviour = { status: 503, body: 'busy' }
/** The breaker would open and hide what is counted; 10 ms between attempts. */
const layer: Document = { retry: quickRetry({ maxAttempts: 4 }), breaker: { mode: 'disabled' } }
const noBudget: Document = { ...layer, budget: ample }

/** Somebody between two layers who calls the lower one; absent = nobody. */
interface Between {
  /** Of the request's and of the answer's marks, whether one passes. */
  readonly down: (name: string) => boolean
  readonly up: (name: string) => boolean
}

interface Chain {
  readonly spec: Document
  readonly between?: Between
}

const all = () => true
const none = () => false
/** With OpenTelemetry it passes baggage on; it answers on its own account. */
const app: Between = { down: name => name === 'baggage', up: none }

/** Each is an upstream of its own in each of the three sidecars. */
const CHAINS = {
  direct: { spec: noBudget },
  stripped: { spec: { ...noBudget, propagate: true }, between: { down: none, up: none } },
  'told-up': { spec: noBudget, between: { down: none, up: all } },
  'told-down': { spec: noBudget, between: { down: all, up: none } },
  apps: { spec: { ...noBudget, propagate: true }, between: app },
  budgeted: { spec: layer },
  'budgeted-apps': { spec: { ...layer, propagate: true }, between: app },
} as const satisfies Readonly<Record<string, Chain>>

type Name = keyof typeof CHAINS

const chains = onOneStage(async stage => {
  const upstream = (await stage.upstream()).plays(bad)
  const nobody = upstreamDoc('refused', `http://127.0.0.1:${await freePort()}`, noBudget)
  const bottom = await stage.sidecar([nobody, ...documents(() => upstream.url)])
  const middle = await above(stage, bottom)
  const top = await above(stage, middle)
  return { upstream, bottom, middle, top }
})

function documents(target: (name: Name) => string): Document[] {
  return Object.entries(CHAINS).map(([name, { spec }]) => upstreamDoc(name, target(name as Name), spec))
}

/** The next layer, whose upstreams are those of the lower one or whoever stands before them. */
async function above(stage: Stage, lower: Sidecar): Promise<Sidecar> {
  const doors = new Map<Name, Upstream>()
  for (const [name, chain] of Object.entries(CHAINS)) {
    if ('between' in chain) doors.set(name as Name, await passerOn(stage, lower, name, chain.between))
  }
  const own = (name: string) => `http://127.0.0.1:${lower.port}/${name}`
  const refused = upstreamDoc('refused', own('refused'), noBudget)
  return stage.sidecar([refused, ...documents(name => doors.get(name)?.url ?? own(name))])
}

async function passerOn(stage: Stage, lower: Sidecar, name: string, between: Between): Promise<Upstream> {
  return (await stage.upstream()).runs(async ({ received }) => {
    const headers = passing(received.headers, between.down)
    const { status, headers: answered, text } = await lower.call(`/${name}${received.url}`, { headers })
    return { status, headers: passing(answered, between.up), body: text }
  })
}

function passing(fields: Received['headers'], passes: (name: string) => boolean): Record<string, string> {
  const marks = Object.entries(fields).filter(([name]) => MARK.test(name) && passes(name))
  return Object.fromEntries(marks.map(([name, value]) => [name, String(value)]))
}

let requests = 0

/** What `send` got, and how often the upstream was called meanwhile. */
async function counted<T>(send: () => Promise<T>): Promise<{ got: T; attempts: number }> {
  const before = chains.upstream.hits
  return { got: await send(), attempts: chains.upstream.hits - before }
}

const request = (name: Name, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  chains.top.call(`/${name}/${++requests}`, { headers })

/** A client that tries up to three times, whatever runs below it. */
async function stubborn(
  name: Name,
  marks: (n: number) => Readonly<Record<string, string>> = () => ({}),
  goesOn: (answer: Answer) => boolean = all,
): Promise<number> {
  for (let n = 1; n <= 3; n++) {
    const answer = await request(name, marks(n))
    if (answer.status === 200 || !goesOn(answer)) return n
  }
  return 3
}

describe('three layers of four attempts, without a budget', () => {
  it('call the upstream 64 times for a request where neither of them hears of the other', async () => {
    const { got, attempts } = await counted(() => request('stripped'))
    expect([got.status, attempts]).toEqual([503, 64])
  })

  it('call it 4 times where they tell each other', async () => {
    const { got, attempts } = await counted(() => request('direct'))
    expect(attempts).toBe(4)
    expect([got.status, got.text]).toEqual([503, 'busy'])
    expect([got.headers['forbear-outcome'], got.headers['forbear-attempts']]).toEqual(['layer', '1'])
    expect(got.headers['forbear-exhausted']).toBe('retries-exhausted')
  })

  it('dial an upstream that refuses connections 4 times', async () => {
    const got = await chains.top.call('/refused/x')
    expect([got.status, got.headers['forbear-outcome']]).toEqual([502, 'layer'])
    const dialled = async (one: Sidecar) => (await one.metrics()).sum('forbear_attempts_total', { upstream: 'refused' })
    expect([await dialled(chains.bottom), await dialled(chains.middle), await dialled(chains.top)]).toEqual([4, 1, 1])
  })

  it('call it 4 times where only answers are marked: what the lowest gave up on nobody above repeats', async () => {
    const { got, attempts } = await counted(() => request('told-up'))
    expect([got.headers['forbear-outcome'], got.headers['forbear-attempts'], attempts]).toEqual(['layer', '1', 4])
  })

  it('add up and do not multiply where only requests are marked: each layer makes its own 3 re-sends once', async () => {
    const { got, attempts } = await counted(() => request('told-down'))
    expect([got.headers['forbear-outcome'], got.headers['forbear-attempts']]).toEqual(['retries-exhausted', '4'])
    expect(attempts).toBe(1 + 3 * 3)
  })

  it('add up and do not multiply through apps that drop our fields and pass baggage on', async () => {
    const { got, attempts } = await counted(() => request('apps'))
    expect([got.headers['forbear-outcome'], got.headers['forbear-attempts']]).toEqual(['retries-exhausted', '4'])
    expect(attempts).toBe(1 + 3 * 3)
  })
})

describe('a client that tries three times above three layers', () => {
  it('gets 4 attempts for each try where it neither marks nor heeds a mark', async () => {
    const { attempts } = await counted(() => stubborn('direct'))
    expect(attempts).toBe(3 * 4)
  })

  it.each([
    ['forbear-attempt', (n: number) => ({ 'forbear-attempt': String(n) })],
    ['baggage', (n: number) => ({ baggage: `forbear.resend=${n};t=${Math.floor(Date.now() / 1_000)}` })],
  ])('gets 4 attempts for its first try and one for each re-send that it marks by %s', async (_name, marks) => {
    const { attempts } = await counted(() => stubborn('direct', marks))
    expect(attempts).toBe(4 + 2)
  })

  it('gets 4 attempts in all where it takes forbear-exhausted for an answer', async () => {
    const heeds = ({ headers }: Answer) => headers['forbear-exhausted'] === undefined
    const { got, attempts } = await counted(() => stubborn('direct', undefined, heeds))
    expect([got, attempts]).toEqual([1, 4])
  })
})

describe('three layers of four attempts, with the built-in budget', () => {
  /** 200 requests in two seconds; on a slow machine they may take more than one window. */
  const load = async (send: () => Promise<Answer>) => {
    const startMs = nowMs()
    const { got, attempts } = await counted(() => openLoop({ perSecond: 100, forMs: 2_000, send }))
    return { got, attempts, floor: FLOOR * Math.ceil((nowMs() - startMs) / WINDOW_MS) }
  }

  it('call a dead upstream at most 1.5 times a request', async () => {
    const { got, attempts, floor } = await load(() => request('budgeted'))
    expect(got).toHaveLength(200)
    expect(attempts / got.length).toBeLessThanOrEqual(1.5)
    // Nothing succeeds, so nothing is earned, and nobody above the lowest repeats anything: one layer's floor.
    expect(attempts - got.length).toBeLessThanOrEqual(floor)
    expect(attempts - got.length).toBeGreaterThan(0)
  })

  it('call it at most 1.5 times a request through apps that pass baggage on, too', async () => {
    const { got, attempts, floor } = await load(() => request('budgeted-apps'))
    expect(attempts / got.length).toBeLessThanOrEqual(1.5)
    expect(attempts - got.length).toBeLessThanOrEqual(3 * floor)
  })

  it('call an upstream that fails every second time no oftener than one layer would', async () => {
    const { upstream } = chains
    upstream.runs(({ received }) => (received.n % 2 === 0 ? bad : {}))
    const { got, attempts, floor } = await load(() => request('budgeted'))
    upstream.plays(bad)
    expect(attempts / got.length).toBeLessThanOrEqual(1.5)
    expect(attempts).toBeLessThanOrEqual(1.2 * got.length + floor)
    expect(attempts).toBeGreaterThan(1.05 * got.length)
  })

  it('keep a client that tries three times at 1.5 attempts a try', async () => {
    const clients = Array.from({ length: 50 }, () => stubborn('budgeted'))
    const { got, attempts } = await counted(() => Promise.all(clients))
    const tries = got.reduce((sum, n) => sum + n, 0)
    expect(tries).toBe(150)
    expect(attempts / tries).toBeLessThanOrEqual(1.5)
  })
})
