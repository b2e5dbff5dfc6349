/** Parking through the built command, on both stores. */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'
import type { Answer } from './harness/client.js'
import { ample, type Document, quickRetry, temporary, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const POST = { method: 'POST' }
/** Each a little later into a burst of calls. */
const KILLS = 4
const order = (key: string, more: Record<string, string> = {}) => ({
  method: 'POST',
  body: `order ${key}`,
  headers: { 'Idempotency-Key': key, Prefer: 'respond-async', ...more },
})

interface Entry {
  readonly id: string
  readonly state: string
  readonly attempts: number
  readonly last: string | null
  readonly headers: readonly string[]
}

interface Scene {
  readonly upstream: Upstream
  readonly location: string
  readonly redis: RedisServer | null
  start(): Promise<Sidecar>
}

if (!HAS_REDIS) console.warn('redis-server is not installed: parking on Redis is not tested')

const STORES = {
  directory: (stage: Stage) =>
    temporary().then(dir => {
      stage.later(() => rm(dir, { recursive: true, force: true }))
      return { location: dir, redis: null }
    }),
  Redis: async (stage: Stage) => {
    const redis = await RedisServer.start()
    stage.later(() => redis.close())
    return { location: redis.url, redis }
  },
}

async function scene(
  stage: Stage,
  kind: keyof typeof STORES,
  park: Document = {},
  spec: Document = {},
): Promise<Scene> {
  const upstream = await stage.upstream()
  const { location, redis } = await STORES[kind](stage)
  const document = upstreamDoc('shop', upstream.url, {
    retry: quickRetry({ maxAttempts: 2 }),
    budget: ample,
    breaker: { mode: 'disabled' },
    ...spec,
    park: { store: location, first: '100ms', every: '200ms', ...park },
  })
  const dir = await stage.policyDir({ 'p.yaml': JSON.stringify(document) })
  return {
    upstream,
    location,
    redis,
    async start() {
      const sidecar = await stage.sidecar(dir)
      await until(
        'the store is open',
        async () => (await sidecar.admin('/status')).text.includes('"problems": []'),
        15_000,
      )
      return sidecar
    },
  }
}

async function entries(sidecar: Sidecar): Promise<Entry[]> {
  return (JSON.parse((await sidecar.admin('/parked')).text) as { entries: Entry[] }).entries
}

async function entryAt(sidecar: Sidecar, answer: Answer): Promise<Entry & { status?: number }> {
  const path = new URL(String(answer.headers.location)).pathname
  return JSON.parse((await sidecar.admin(path)).text) as Entry
}

async function parkedBy(sidecar: Sidecar, key: string): Promise<Answer> {
  const answer = await sidecar.call('/shop/orders', order(key))
  expect([answer.status, answer.text]).toEqual([202, expect.anything()])
  return answer
}

describe.each(Object.keys(STORES) as (keyof typeof STORES)[])('parking in a %s', kind => {
  const it = kind === 'Redis' && !HAS_REDIS ? test.skip : test

  it('answers 202 with a place to ask, and delivers the same call once the upstream is back', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind)
    let healthy = false
    upstream.runs(() => (healthy ? { status: 201 } : { status: 503 }))
    const sidecar = await start()
    const answer = await parkedBy(sidecar, 'k1')
    expect(answer.headers).toMatchObject({
      'forbear-outcome': 'parked',
      'forbear-attempts': '2',
      'preference-applied': 'respond-async',
      location: expect.stringMatching(`^http://127.0.0.1:${sidecar.adminPort}/parked/`),
    })
    healthy = true
    await until('it is delivered', async () => (await entryAt(sidecar, answer)).state === 'delivered')
    const last = upstream.received.at(-1)
    expect(last).toMatchObject({ method: 'POST', url: '/orders' })
    expect(last?.body.toString()).toBe('order k1')
    expect(last?.headers).toMatchObject({
      'idempotency-key': 'k1',
      'forbear-attempt': '1',
      host: `127.0.0.1:${upstream.port}`,
    })
    expect((await sidecar.accessLine('/shop/orders'))['outcome']).toBe('parked')
  })

  it('loses nothing that was acknowledged when it is killed, and repeats it with its key', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind, { first: '300ms', every: '500ms' })
    const done = new Set<string>()
    let healthy = false
    upstream.runs(({ received }) => {
      if (healthy) done.add(String(received.headers['idempotency-key']))
      return { status: healthy ? 200 : 503 }
    })
    const acknowledged: string[] = []
    for (let kill = 1; kill <= KILLS; kill++) {
      const sidecar = await start()
      const before = acknowledged.length
      const sending = Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const key = `${kill}.${n}`
          const answer = await sidecar.call('/shop/orders', order(key)).catch(() => null)
          if (answer?.status === 202) acknowledged.push(key)
        }),
      )
      await until('some are acknowledged', () => acknowledged.length > before + 7 * kill)
      await sidecar.kill()
      await sending
    }
    healthy = true
    await start()
    // Redis: what was being delivered keeps its lock for a while.
    await until('all of them are delivered', () => acknowledged.every(key => done.has(key)), 60_000)
  }, 90_000)

  it('gives up after maxAttempts, keeps the entry, and sends it again by hand', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind, { maxAttempts: 2 })
    let healthy = false
    upstream.runs(() => ({ status: healthy ? 200 : 503 }))
    const sidecar = await start()
    const answer = await parkedBy(sidecar, 'k1')
    const dead = await until('it is dead', async () => {
      const entry = await entryAt(sidecar, answer)
      return entry.state === 'dead' ? entry : undefined
    })
    expect(dead).toMatchObject({ attempts: 2, last: 'status 503; maxAttempts reached' })
    healthy = true
    expect((await sidecar.admin(`/parked/${dead.id}/retry`, POST)).status).toBe(200)
    await until('it is delivered', async () => (await entryAt(sidecar, answer)).state === 'delivered')
  })

  it('gives up at once when the upstream does not know the caller', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind)
    let status = 503
    upstream.runs(() => ({ status }))
    const sidecar = await start()
    const answer = await parkedBy(sidecar, 'k1')
    status = 401
    await until('it is dead', async () => (await entryAt(sidecar, answer)).state === 'dead')
    expect(await entryAt(sidecar, answer)).toMatchObject({ last: 'status 401' })
  })

  it('forgets an entry that is dropped', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind, { first: '1h', every: '1h' })
    upstream.runs(() => ({ status: 503 }))
    const sidecar = await start()
    const { id } = await entryAt(sidecar, await parkedBy(sidecar, 'k1'))
    expect((await sidecar.admin(`/parked/${id}/drop`, POST)).status).toBe(200)
    expect((await sidecar.admin(`/parked/${id}`)).status).toBe(404)
    expect(await entries(sidecar)).toEqual([])
  })

  it('cancels an older entry when the same call succeeds later', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind, { first: '1h', every: '1h' })
    let status = 503
    upstream.runs(() => ({ status }))
    const sidecar = await start()
    const [mine, other] = [await parkedBy(sidecar, 'k1'), await parkedBy(sidecar, 'k2')]
    status = 201
    expect((await sidecar.call('/shop/orders', order('k1'))).status).toBe(201)
    await until('it is cancelled', async () => (await entryAt(sidecar, mine)).state === 'cancelled')
    expect(await entryAt(sidecar, other)).toMatchObject({ state: 'waiting' })
  })

  it('passes the failure on when the store is full', async ({ stage }) => {
    const { upstream, start } = await scene(stage, kind, { maxBytes: '4KiB', first: '1h', every: '1h' })
    upstream.runs(() => ({ status: 503, body: 'sorry' }))
    const sidecar = await start()
    await parkedBy(sidecar, 'first')
    const full = await until('the store is full', async () => {
      const answer = await sidecar.call('/shop/orders', order(`k${Math.random()}`))
      return answer.status === 202 ? undefined : answer
    })
    expect([full.status, full.text, full.headers['forbear-outcome']]).toEqual([503, 'sorry', 'retries-exhausted'])
    await until('the log says so', () => sidecar.logs.some(line => line['why'] === 'the store is full'))
  })
})

describe('parking', () => {
  test('parks only what carries a key of its own and whose app asked for it', async ({ stage }) => {
    const { upstream, start } = await scene(stage, 'directory')
    upstream.runs(() => ({ status: 503 }))
    const sidecar = await start()
    await parkedBy(sidecar, 'k0')
    const statuses = await Promise.all([
      sidecar.call('/shop/a', { method: 'POST', body: 'x', headers: { Prefer: 'respond-async' } }),
      sidecar.call('/shop/b', { method: 'POST', body: 'x', headers: { 'Idempotency-Key': 'k' } }),
      sidecar.call('/shop/c', { method: 'PUT', body: 'x', headers: { Prefer: 'respond-async' } }),
      sidecar.call('/shop/d', { headers: { Prefer: 'respond-async', 'If-Match': '"1"' } }),
      sidecar.call('/shop/e', {
        method: 'PUT',
        body: 'x',
        headers: { Prefer: 'wait=5, respond-async', 'If-Match': '"1"' },
      }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([503, 503, 503, 503, 202])
  })

  test('parks what an open breaker refuses, and what never reached anybody', async ({ stage }) => {
    const { upstream, start } = await scene(stage, 'directory', {}, { breaker: { mode: 'enforce' } })
    await upstream.close()
    const sidecar = await start()
    await parkedBy(sidecar, 'k1')
    await sidecar.admin('/upstreams/shop/breaker?set=open', POST)
    const refused = await sidecar.call('/shop/orders', order('k2'))
    expect([refused.status, refused.headers['forbear-attempts']]).toEqual([202, '0'])
  })

  test('waits as long as a Retry-After says, not less', async ({ stage }) => {
    const { upstream, start } = await scene(
      stage,
      'directory',
      { first: '10ms' },
      { retry: quickRetry({ retryAfter: { cap: '0ms' } }) },
    )
    upstream.runs(() => ({ status: 503, headers: { 'Retry-After': '1' } }))
    const sidecar = await start()
    await parkedBy(sidecar, 'k1')
    const [first, second] = await until('it is sent again', () =>
      upstream.received.length >= 2 ? upstream.received : undefined,
    )
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1000)
  })

  test('stores secrets only encrypted, in files of its own, and sends them again', async ({ stage }) => {
    const keys = await stage.policyDir({ key: 'a key of more than sixteen bytes' })
    const { upstream, start, location } = await scene(stage, 'directory', { keyFile: join(keys.path, 'key') })
    let status = 503
    upstream.runs(() => ({ status }))
    const sidecar = await start()
    await until('it is parked', async () => {
      const answer = await sidecar.call('/shop/orders?q=1', order('k1', { Authorization: 'Bearer s3cret' }))
      return answer.status === 202
    })
    const exported = (await sidecar.admin('/parked/export')).text
    expect(exported).toContain('Authorization')
    expect(exported).not.toContain('s3cret')
    const { mode } = await stat(join(location, 'parked'))
    expect(mode & 0o777).toBe(0o700)
    status = 200
    await until('it is delivered', async () => (await entries(sidecar))[0]?.state === 'delivered')
    expect(upstream.received.at(-1)?.headers.authorization).toBe('Bearer s3cret')
    expect(sidecar.output).not.toContain('s3cret')
  })

  test('tells the webhooks what was parked and what was given up', async ({ stage }) => {
    const hook = await stage.upstream()
    hook.runs(() => ({ status: 204 }))
    const { upstream, start } = await scene(stage, 'directory', {
      maxAttempts: 1,
      onParked: `${hook.url}/parked`,
      onDead: `${hook.url}/dead`,
    })
    upstream.runs(() => ({ status: 503 }))
    const sidecar = await start()
    await parkedBy(sidecar, 'k1')
    const told = await until('both were told', () => (hook.received.length === 2 ? hook.received : undefined))
    expect(told.map(({ url, body }) => [url, JSON.parse(body.toString()).event])).toEqual([
      ['/parked', 'parked'],
      ['/dead', 'dead'],
    ])
    expect(JSON.parse(String(told[1]?.body))).toMatchObject({
      upstream: 'shop',
      method: 'POST',
      path: '/orders',
      attempts: 1,
    })
  })

  test('pays for redeliveries from the retry budget and waits while it is empty', async ({ stage }) => {
    const budget = { ratio: 0.1, window: '10s', minPerSecond: 0.1 }
    const { upstream, start } = await scene(stage, 'directory', { first: '10ms', every: '10ms' }, { budget })
    upstream.runs(() => ({ status: 503 }))
    const sidecar = await start()
    await parkedBy(sidecar, 'k1')
    await parkedBy(sidecar, 'k2')
    const all = await until('both are put off', async () => {
      const found = await entries(sidecar)
      return found.every(({ last }) => last === 'budget-exhausted') ? found : undefined
    })
    expect(all.map(({ attempts }) => attempts)).toEqual([0, 0])
    // Two calls, and the one retry that ten seconds of this budget grant.
    expect(upstream.hits).toBe(3)
  })

  test.skipIf(!HAS_REDIS)(
    'outlives a kill of Redis itself, and passes failures on while it is gone',
    async ({ stage }) => {
      const { upstream, start, redis } = await scene(stage, 'Redis', { first: '2s', every: '2s' })
      let status = 503
      upstream.runs(() => ({ status }))
      const sidecar = await start()
      const answer = await parkedBy(sidecar, 'k1')
      await redis?.kill()
      expect((await sidecar.call('/shop/orders', order('k2'))).status).toBe(503)
      await redis?.begin()
      status = 200
      await until('it is delivered', async () => (await entryAt(sidecar, answer)).state === 'delivered', 20_000)
    },
  )

  test.skipIf(!HAS_REDIS)(
    'sends again what it could not note as delivered',
    async ({ stage }) => {
      const { upstream, start, redis } = await scene(stage, 'Redis')
      let deliveries = 0
      let noted: () => void = () => {}
      const gone = new Promise<void>(resolve => {
        noted = resolve
      })
      upstream.runs(async ({ received }) => {
        if (received.n <= 2) return { status: 503 }
        deliveries += 1
        if (deliveries === 1) await gone
        return { status: 200 }
      })
      const sidecar = await start()
      const answer = await parkedBy(sidecar, 'k1')
      await until('it is under way', () => deliveries === 1)
      await redis?.kill()
      noted()
      await until('it had its answer', () => upstream.nth(3).answeredAtMs !== null)
      await redis?.begin()
      const found = async () => (await sidecar.admin(new URL(String(answer.headers.location)).pathname)).text
      await until('it is delivered', async () => (await found()).includes('"delivered"'), 40_000)
      expect(deliveries).toBeGreaterThanOrEqual(2)
    },
    60_000,
  )

  test.skipIf(!HAS_REDIS)('delivers each entry once when replicas share a store', async ({ stage }) => {
    const { upstream, start } = await scene(stage, 'Redis')
    let healthy = false
    upstream.runs(() => ({ status: healthy ? 200 : 503 }))
    const [one] = [await start(), await start()]
    for (let n = 0; n < 10; n++) await parkedBy(one, `n${n}`)
    healthy = true
    const before = upstream.received.length
    await until('all are delivered', async () => (await entries(one)).every(({ state }) => state === 'delivered'))
    const keys = upstream.received.slice(before).flatMap(({ headers }) => headers['idempotency-key'])
    expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted())
  })
})
