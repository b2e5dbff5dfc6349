/** One contract, two stores. Time is real: BullMQ has timers of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, it as base, describe, expect } from 'vitest'
import { SystemClock } from '../../src/clock/system-clock.js'
import type { ParkSettings, Verdict } from '../../src/core/park.js'
import { openLevelStore } from '../../src/park/level-store.js'
import { openRedisStore } from '../../src/park/open-redis-store.js'
import type { ParkedRecord } from '../../src/park/record.js'
import type { ParkStore, StoreDeps } from '../../src/park/store.js'
import { until } from '../e2e/harness/time.js'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'

const SETTINGS: ParkSettings = {
  accept: 'always',
  store: '',
  firstMs: 10,
  everyMs: 10,
  maxAgeMs: 60_000,
  maxAttempts: 9,
  maxBytes: 1_000_000,
  onParked: null,
  onDead: null,
  keyFile: null,
  secretHeaders: [],
}
const SOON: Verdict = { next: 'later', dueAtMs: 0, counted: true, why: 'status 503' }
const DELIVERED: Verdict = { next: 'delivered', status: 200 }
const DEAD: Verdict = { next: 'dead', counted: true, why: 'status 401' }
const BODY = new Uint8Array([0, 255, 10, 13])

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

let numbered = 0
function record(more: Partial<ParkedRecord> = {}): ParkedRecord {
  const nowMs = Date.now()
  return {
    id: `${nowMs.toString(36).padStart(9, '0')}-${String(++numbered).padStart(12, '0')}`,
    state: 'waiting',
    upstream: 'shop',
    route: null,
    method: 'PUT',
    path: '/orders/1?a=b',
    headers: [['Content-Type', 'text/plain']],
    bodyBytes: BODY.byteLength,
    key: null,
    conditional: true,
    outcome: 'connect',
    traceId: null,
    arrivedAtMs: nowMs,
    parkedAtMs: nowMs,
    dueAtMs: nowMs,
    endedAtMs: null,
    attempts: 0,
    last: null,
    settings: SETTINGS,
    ...more,
  }
}

const LATER = { dueAtMs: Date.now() + 3_600_000 }

type Open = () => Promise<ParkStore>

/** How to open the same store again and again. */
const KINDS: Readonly<Record<string, (deps: StoreDeps) => Promise<Open>>> = {
  directory: async deps => {
    const dir = await mkdtemp(join(tmpdir(), 'forbear-park-'))
    endings.push(() => rm(dir, { recursive: true, force: true }))
    return () => openLevelStore(dir, deps)
  },
  Redis: async deps => {
    const redis = await RedisServer.start()
    endings.push(() => redis.close())
    return () => openRedisStore(redis.url, deps, { lockMs: 500 })
  },
}

async function opener(kind: string): Promise<Open> {
  const open = await (KINDS[kind] as (typeof KINDS)[string])({ clock: new SystemClock(), onTrouble: () => {} })
  return async () => {
    const store = await open()
    endings.push(() => store.close())
    return store
  }
}

describe.each(Object.keys(KINDS))('a store in a %s', kind => {
  const it = kind === 'Redis' && !HAS_REDIS ? base.skip : base

  it('gives back an entry as it was, also to whoever opens it next', async () => {
    const open = await opener(kind)
    const one = record(LATER)
    const store = await open()
    expect(await store.add(one, BODY)).toBe('added')
    expect(await store.get(one.id)).toMatchObject({ record: one })
    await store.close()
    const again = await open()
    expect(await again.list()).toEqual([one])
    expect(new Uint8Array((await again.get(one.id))?.body ?? [])).toEqual(BODY)
    expect(again.usage()).toMatchObject({ waiting: 1, dead: 0 })
  })

  it('delivers what is due with its body, and tells of it afterwards without its content', async () => {
    const store = await (await opener(kind))()
    const one = record()
    const bodies: Uint8Array[] = []
    store.start(async (_, body) => {
      bodies.push(new Uint8Array(body))
      return DELIVERED
    })
    await store.add(one, BODY)
    const done = await until('it is delivered', async () => {
      const found = await store.get(one.id)
      return found?.record.state === 'delivered' ? found : undefined
    })
    expect(bodies).toEqual([BODY])
    expect(done).toMatchObject({ record: { attempts: 1, last: 'status 200', headers: [] }, body: null })
  })

  it('does not deliver before the time', async () => {
    const store = await (await opener(kind))()
    const delivered: [string, number][] = []
    store.start(async ({ id }) => {
      delivered.push([id, Date.now()])
      return DELIVERED
    })
    const [later, sooner] = [record({ dueAtMs: Date.now() + 300 }), record({ dueAtMs: Date.now() + 100 })]
    await store.add(later, BODY)
    await store.add(sooner, BODY)
    await until('both are delivered', () => delivered.length === 2)
    expect(delivered.map(([id]) => id)).toEqual([sooner.id, later.id])
    for (const [id, atMs] of delivered)
      expect(atMs).toBeGreaterThanOrEqual((id === later.id ? later : sooner).dueAtMs - 1)
  })

  it('comes back as often as it is told, and counts', async () => {
    const store = await (await opener(kind))()
    const seen: number[] = []
    store.start(async ({ attempts }) => {
      seen.push(attempts)
      return attempts < 3 ? { ...SOON, dueAtMs: Date.now() + 20 } : DELIVERED
    })
    await store.add(record(), BODY)
    await until('four redeliveries', () => seen.length === 4)
    expect(seen).toEqual([0, 1, 2, 3])
  })

  it('does not count what was not sent', async () => {
    const store = await (await opener(kind))()
    const seen: number[] = []
    store.start(async ({ attempts }) => {
      seen.push(attempts)
      return { ...SOON, dueAtMs: Date.now() + 20, counted: false, why: 'budget-exhausted' }
    })
    const one = record()
    await store.add(one, BODY)
    await until('three tries', () => seen.length === 3)
    expect(seen).toEqual([0, 0, 0])
    expect((await store.get(one.id))?.record.last).toBe('budget-exhausted')
  })

  it('keeps a dead one with its content, and revives it by hand', async () => {
    const store = await (await opener(kind))()
    const verdicts = [DEAD, DELIVERED]
    store.start(async () => verdicts.shift() ?? DEAD)
    const one = record()
    await store.add(one, BODY)
    const dead = await until('it is dead', async () => {
      const found = await store.get(one.id)
      return found?.record.state === 'dead' ? found : undefined
    })
    expect(dead).toMatchObject({ record: { last: 'status 401', headers: one.headers } })
    expect(dead.body).not.toBeNull()
    expect(await until('it may be revived', () => store.retry(one.id))).toBe(true)
    await until('it is delivered', async () => (await store.get(one.id))?.record.state === 'delivered')
  })

  it('makes a waiting one due by hand', async () => {
    const store = await (await opener(kind))()
    store.start(async () => DELIVERED)
    const one = record(LATER)
    await store.add(one, BODY)
    expect(await store.retry(one.id)).toBe(true)
    await until('it is delivered', async () => (await store.get(one.id))?.record.state === 'delivered')
    expect(await store.retry('nobody')).toBe(false)
  })

  it('forgets what is dropped, but not while it is delivered', async () => {
    const store = await (await opener(kind))()
    let finish: () => void = () => {}
    let busy = false
    store.start(async () => {
      busy = true
      await new Promise<void>(resolve => {
        finish = resolve
      })
      return DEAD
    })
    const [one, other] = [record(), record(LATER)]
    await store.add(one, BODY)
    await store.add(other, BODY)
    await until('it is under way', () => busy)
    expect(await store.drop(one.id)).toBe(false)
    expect(await store.drop(other.id)).toBe(true)
    expect(await store.get(other.id)).toBeNull()
    expect(await store.drop(other.id)).toBe(false)
    finish()
    await until('it is dead', async () => (await store.get(one.id))?.record.state === 'dead')
    expect(await until('it may be dropped', () => store.drop(one.id))).toBe(true)
  })

  it('cancels what a later success makes void, and tells of it', async () => {
    const store = await (await opener(kind))()
    const [one, other] = [record(LATER), record({ ...LATER, path: '/orders/2' })]
    await store.add(one, BODY)
    await store.add(other, BODY)
    const success = { upstream: 'shop', method: 'PUT', path: one.path, key: null, arrivedAtMs: Date.now() + 1 }
    expect((await store.cancel(success)).map(({ id }) => id)).toEqual([one.id])
    expect(await store.get(one.id)).toMatchObject({ record: { state: 'cancelled' }, body: null })
    expect(await store.get(other.id)).toMatchObject({ record: { state: 'waiting' } })
    expect(await store.cancel(success)).toEqual([])
  })

  it('leaves alone the entry whose own redelivery is the success', async () => {
    const store = await (await opener(kind))()
    const [one, newer] = [record(LATER), record(LATER)]
    await store.add(one, BODY)
    await store.add(newer, BODY)
    const success = { ...newer, arrivedAtMs: Date.now() + 1 }
    expect((await store.cancel(success, newer.id)).map(({ id }) => id)).toEqual([one.id])
    expect(await store.get(newer.id)).toMatchObject({ record: { state: 'waiting' } })
  })

  it('knows no entry by a name that belongs to something else', async () => {
    const store = await (await opener(kind))()
    await store.add(record(LATER), BODY)
    for (const id of ['meta', 'id', 'events', 'delayed', '*total', '..']) {
      expect([await store.get(id), await store.retry(id), await store.drop(id)]).toEqual([null, false, false])
    }
  })

  it('does not send again what was cancelled while it was under way', async () => {
    const store = await (await opener(kind))()
    let finish: () => void = () => {}
    let sent = 0
    store.start(async () => {
      sent += 1
      await new Promise<void>(resolve => {
        finish = resolve
      })
      return { ...SOON, dueAtMs: Date.now() }
    })
    const one = record()
    await store.add(one, BODY)
    await until('it is under way', () => sent === 1)
    await store.cancel({ upstream: 'shop', method: 'PUT', path: one.path, key: null, arrivedAtMs: Date.now() + 1 })
    finish()
    const other = record()
    await store.add(other, BODY)
    await until('the next one is under way', () => sent === 2)
    finish()
    expect(await store.get(one.id)).toMatchObject({ record: { state: 'cancelled' } })
  })

  it('is full at maxBytes, and dead entries make room, oldest first', async () => {
    const store = await (await opener(kind))()
    const settings = { ...SETTINGS, maxBytes: 4096 }
    const added: string[] = []
    for (;;) {
      const next = record({ ...LATER, settings })
      if ((await store.add(next, BODY)) === 'full') break
      added.push(next.id)
    }
    expect(added.length).toBeGreaterThan(2)
    expect(store.usage().bytes).toBeLessThanOrEqual(4096)
    store.start(async () => DEAD)
    const [first = ''] = added
    await store.retry(first)
    await until('one is dead', async () => (await store.get(first))?.record.state === 'dead')
    const newcomer = record({ ...LATER, settings })
    await until('it may be removed', async () => (await store.add(newcomer, BODY)) === 'added')
    expect(await store.get(first)).toBeNull()
    expect((await store.list()).map(({ id }) => id)).toEqual([...added.slice(1), newcomer.id])
  })

  it('redelivers what was under way when its holder went away', async () => {
    const open = await opener(kind)
    const store = await open()
    let begun = 0
    store.start(() => {
      begun += 1
      return new Promise<Verdict>(() => {})
    })
    await store.add(record(), BODY)
    await until('it is under way', () => begun === 1)
    await store.close()
    const next = await open()
    next.start(async () => {
      begun += 1
      return DELIVERED
    })
    await until('another has it', () => begun === 2, 10_000)
  })
})

describe('a store in a directory', () => {
  base('is open in one process at a time', async () => {
    const open = await opener('directory')
    await open()
    await expect(open()).rejects.toThrow('in use by another process')
  })

  base('makes room by what is done before it forgets what is dead', async () => {
    const store = await (await opener('directory'))()
    const settings = { ...SETTINGS, maxBytes: 4096 }
    const verdicts = [DEAD, DELIVERED]
    store.start(async () => verdicts.shift() ?? DELIVERED)
    const [dead, done] = [record({ settings }), record({ settings })]
    for (const each of [dead, done]) {
      await store.add(each, BODY)
      await until('it has ended', async () => (await store.get(each.id))?.record.state !== 'waiting')
    }
    while ((await store.get(done.id)) !== null) {
      expect(await store.add(record({ ...LATER, settings }), BODY)).toBe('added')
    }
    expect(await store.get(dead.id)).toMatchObject({ record: { state: 'dead' } })
  })

  base('leaves alone what is no entry, says so, and serves the rest', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'forbear-park-'))
    endings.push(() => rm(dir, { recursive: true, force: true }))
    const troubles: string[] = []
    const deps = { clock: new SystemClock(), onTrouble: (text: string) => void troubles.push(text) }
    const good = record(LATER)
    const store = await openLevelStore(dir, deps)
    await store.add(good, BODY)
    for (const headers of ['text', [['only a name']], [null]]) {
      await store.add(record({ ...LATER, headers: headers as unknown as ParkedRecord['headers'] }), BODY)
    }
    await store.close()
    const again = await openLevelStore(dir, deps)
    endings.push(() => again.close())
    expect(await again.list()).toEqual([good])
    expect(troubles).toHaveLength(3)
  })
})
