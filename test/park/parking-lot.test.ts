import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import type { ParkSettings, Redelivery, Sameness, Verdict } from '../../src/core/park.js'
import { ParkingLot, type StoredCall } from '../../src/park/parking-lot.js'
import { type ParkedRecord, revived } from '../../src/park/record.js'
import type { Deliver, ParkStore } from '../../src/park/store.js'
import type { ParkCall } from '../../src/pipeline/parking.js'
import type { ForbearEvent } from '../../src/telemetry/events.js'
import { until } from '../e2e/harness/time.js'
import { PARK } from '../pipeline/support/parking.js'
import { snapshotOf } from '../pipeline/support/policy.js'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/** Keeps one entry in memory and delivers it when told. */
class OneEntryStore implements ParkStore {
  record: ParkedRecord | null = null
  body: Uint8Array = new Uint8Array()
  deliver: Deliver | null = null
  dropped: string[] = []
  successes: Sameness[] = []
  waiting = 1
  answer: 'added' | 'full' | 'never' | 'broken' = 'added'

  usage() {
    return { waiting: this.waiting, dead: 0, bytes: 10 }
  }
  hasRoom() {
    return this.answer !== 'full'
  }
  async add(record: ParkedRecord, body: Uint8Array): Promise<'added' | 'full'> {
    if (this.answer === 'broken') throw new Error('no space left on the disk')
    if (this.answer === 'never') return new Promise(() => {})
    this.record = record
    this.body = body
    return this.answer
  }
  start(deliver: Deliver) {
    this.deliver = deliver
  }
  async list() {
    return this.record === null ? [] : [this.record]
  }
  async get() {
    return this.record === null ? null : { record: this.record, body: this.body }
  }
  async retry() {
    return true
  }
  async drop(id: string) {
    this.dropped.push(id)
    return true
  }
  async cancel(success: Sameness, except?: string) {
    this.successes.push(success)
    return this.record === null || this.record.id === except ? [] : [this.record]
  }
  async close() {}

  async redeliver(): Promise<Verdict> {
    return (this.deliver as Deliver)(this.record as ParkedRecord, this.body)
  }
}

function call(more: Partial<ParkCall> = {}): ParkCall {
  return {
    settings: PARK,
    upstream: 'api',
    route: null,
    method: 'POST',
    path: '/orders?token=t',
    headers: [
      'Content-Type',
      'text/plain',
      'Idempotency-Key',
      'k1',
      'Authorization',
      'Bearer s3cret',
      'Proxy-Authorization',
      'Basic s3cret',
      'forbear-attempt',
      '2',
    ],
    body: new TextEncoder().encode('order'),
    outcome: 'connect',
    retryAfterMs: null,
    attempts: 2,
    traceId: null,
    key: 'idempotency-key: k1',
    arrivedAtMs: 0,
    ...more,
  }
}

async function opened(park: Partial<ParkSettings> = {}) {
  const clock = new VirtualClock(1_767_225_600_000)
  const store = new OneEntryStore()
  const events: ForbearEvent[] = []
  const sent: StoredCall[] = []
  const results: Redelivery[] = []
  const lot = new ParkingLot({
    clock,
    random: () => 0,
    sink: { emit: event => void events.push(event) },
    locate: id => `http://admin/parked/${id}`,
    redeliver: async stored => {
      sent.push(stored)
      return results.shift() ?? { kind: 'response', status: 200, retryAfterMs: null }
    },
    open: async () => store,
  })
  const settings = { ...PARK, ...park }
  await lot.reconcile(snapshotOf(1, [{ policy: { park: settings } }]))
  const steps = () => events.flatMap(event => (event.type === 'parked-call' ? [`${event.step}: ${event.why}`] : []))
  return { clock, store, events, sent, results, lot, settings, steps }
}

async function keyFile(text: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'forbear-lot-'))
  endings.push(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'key'), text)
  return join(dir, 'key')
}

describe('a call that is parked', () => {
  it('has a place where it can be asked for, and comes back as it went in', async () => {
    const { lot, store, sent, steps } = await opened({ secretHeaders: ['authorization'] })
    const parked = await lot.park(call({ settings: { ...PARK, secretHeaders: ['authorization'] } }))
    expect(parked?.location).toBe(`http://admin/parked/${parked?.id}`)
    expect(await store.redeliver()).toEqual({ next: 'delivered', status: 200 })
    expect(sent[0]).toMatchObject({ method: 'POST', path: '/orders?token=t' })
    expect(sent[0]?.headers).toEqual(['Content-Type', 'text/plain', 'Idempotency-Key', 'k1'])
    expect(steps()).toEqual(['parked: connect', 'delivered: status 200'])
  })

  it('keeps its secrets with a key file, and nothing of them shows', async () => {
    const park = { secretHeaders: ['authorization'], keyFile: await keyFile('0123456789abcdef') }
    const { lot, store, sent, settings } = await opened(park)
    await lot.park(call({ settings }))
    expect(JSON.stringify(store.record)).not.toMatch(/s3cret|k: 1/)
    await store.redeliver()
    expect(sent[0]?.headers).toContain('Bearer s3cret')
    expect(JSON.stringify(await lot.calls.list())).not.toMatch(/s3cret|token/)
    expect(await lot.calls.exported()).not.toContain('s3cret')
  })

  it('waits, and is not sent without them, while its key cannot be read', async () => {
    const file = await keyFile('0123456789abcdef')
    const { lot, store, sent, settings } = await opened({ secretHeaders: ['authorization'], keyFile: file })
    await lot.park(call({ settings }))
    await writeFile(file, 'another key of sixteen bytes')
    await lot.reconcile(snapshotOf(2, [{ policy: { park: settings } }]))
    expect(await store.redeliver()).toMatchObject({
      next: 'later',
      counted: false,
      why: expect.stringContaining('another key'),
    })
    expect(sent).toEqual([])
  })

  it('is not stored when its key file cannot be read', async () => {
    const { lot, store, settings, steps } = await opened({ keyFile: '/nowhere/key' })
    expect(await lot.park(call({ settings }))).toBeNull()
    expect(store.record).toBeNull()
    expect(steps()).toEqual([expect.stringContaining('refused: ENOENT')])
  })

  it.each([
    ['full', 'refused: the store is full'],
    ['broken', 'refused: no space left on the disk'],
  ] as const)('is refused when the store is %s, and the log says so', async (answer, step) => {
    const { lot, store, steps } = await opened()
    store.answer = answer
    expect(await lot.park(call())).toBeNull()
    expect(steps()).toEqual([step])
  })

  it('is refused when the store does not answer', async () => {
    const { lot, store, steps, clock } = await opened()
    store.answer = 'never'
    const parked = lot.park(call())
    await clock.advance(5000)
    expect(await parked).toBeNull()
    expect(steps()).toEqual(['refused: the store does not answer'])
  })

  it('goes by the policy of now, and by that of its parking where there is none any more', async () => {
    const { lot, store, results } = await opened({ maxAttempts: 5 })
    await lot.park(call({ settings: { ...PARK, maxAttempts: 2 } }))
    const failed: Redelivery = { kind: 'failure', outcome: 'connect' }
    store.record = { ...(store.record as ParkedRecord), attempts: 1 }
    results.push(failed, failed)
    expect(await store.redeliver()).toMatchObject({ next: 'later' })
    await lot.reconcile(snapshotOf(2, [{ policy: {} }]))
    expect(await store.redeliver()).toMatchObject({ next: 'dead', why: 'connect; maxAttempts reached' })
  })

  it('is sent with the key of its parking where the policy names another one, or none', async () => {
    const secret = { secretHeaders: ['authorization'] }
    const { lot, store, sent, settings } = await opened({ ...secret, keyFile: await keyFile('0123456789abcdef') })
    await lot.park(call({ settings }))
    for (const file of [await keyFile('another key of sixteen bytes'), null]) {
      await lot.reconcile(snapshotOf(2, [{ policy: { park: { ...settings, keyFile: file } } }]))
      expect(await store.redeliver()).toEqual({ next: 'delivered', status: 200 })
      expect(sent.at(-1)?.headers).toContain('Bearer s3cret')
    }
  })

  it('is given up and not sent when its body is not what it was', async () => {
    const { lot, store, sent } = await opened()
    await lot.park(call())
    store.body = new Uint8Array()
    expect(await store.redeliver()).toEqual({ next: 'dead', counted: false, why: 'its body is damaged' })
    expect(sent).toEqual([])
  })

  it('is given up unsent when nobody was there to send it until long after maxAge, but sent by hand', async () => {
    const { lot, store, sent, clock } = await opened()
    await lot.park(call())
    await clock.advance(PARK.maxAgeMs + 60_001)
    expect(await store.redeliver()).toEqual({ next: 'dead', counted: false, why: 'older than maxAge' })
    expect(sent).toEqual([])
    store.record = revived(store.record as ParkedRecord, clock.wallMs())
    expect(await store.redeliver()).toEqual({ next: 'delivered', status: 200 })
  })

  it('makes older ones void when it is delivered, as any success does', async () => {
    const { lot, store } = await opened()
    await lot.park(call({ method: 'PUT', arrivedAtMs: 7 }))
    await store.redeliver()
    const { key } = store.record as ParkedRecord
    expect(store.successes).toEqual([{ upstream: 'api', method: 'PUT', path: '/orders?token=t', key, arrivedAtMs: 7 }])
  })

  it.each([
    ['PUT', ['delivered', 'later']],
    ['POST', ['delivered', 'delivered']],
  ])('waits while another %s to its target is under way, if the last one counts', async (method, ends) => {
    const { lot, store } = await opened()
    await lot.park(call({ method }))
    const first = store.redeliver()
    store.record = { ...(store.record as ParkedRecord), id: 'another' }
    const verdicts = await Promise.all([first, store.redeliver()])
    expect(verdicts.map(({ next }) => next)).toEqual(ends)
    expect(await store.redeliver()).toMatchObject({ next: 'delivered' })
  })

  it('is asked for the less often the more wait, while it cannot be sent', async () => {
    const { lot, store, results, clock } = await opened()
    await lot.park(call())
    store.waiting = 10_000
    results.push({ kind: 'not-sent', outcome: 'breaker-open', retryAfterMs: null })
    const verdict = await store.redeliver()
    expect(verdict).toMatchObject({ next: 'later', counted: false, dueAtMs: clock.wallMs() + 50_000 })
  })

  it('is told to the webhooks, again until they have heard', async () => {
    const heard: string[] = []
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', chunk => (text += chunk))
      request.on('end', () => {
        heard.push(text)
        response.writeHead(heard.length === 1 ? 500 : 204).end()
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    endings.push(() => server.close())
    const onParked = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { lot, clock, settings } = await opened({ onParked })
    await lot.park(call({ settings }))
    await until('it was told twice', async () => {
      await clock.advance(200)
      return heard.length === 2
    })
    expect(heard[1]).toBe(heard[0])
    expect(JSON.parse(heard[1] ?? '')).toMatchObject({
      event: 'parked',
      upstream: 'api',
      path: '/orders',
      why: 'connect',
    })
    expect(heard[0]).not.toMatch(/token|s3cret|k1/)
  })

  it('is taken out again when its app had left', async () => {
    const { lot, store } = await opened()
    const parked = await lot.park(call())
    lot.takeBack(PARK, parked?.id ?? '')
    expect(store.dropped).toEqual([parked?.id])
  })
})

describe('a store that cannot be opened', () => {
  it('refuses calls, says so once, and is tried again', async () => {
    const clock = new VirtualClock()
    const events: ForbearEvent[] = []
    let tries = 0
    const lot = new ParkingLot({
      clock,
      random: () => 0,
      sink: { emit: event => void events.push(event) },
      locate: id => id,
      redeliver: async () => ({ kind: 'failure', outcome: 'x' }),
      open: async () => {
        if (++tries < 3) throw new Error('read-only file system')
        return new OneEntryStore()
      },
    })
    const settings = { ...PARK, store: 'redis://user:pass@host:1' }
    await lot.reconcile(snapshotOf(1, [{ policy: { park: settings } }]))
    expect(lot.hasRoom(settings, { upstream: 'api', route: null }, 1)).toBe(false)
    expect(lot.status()?.problems).toEqual([expect.stringContaining('cannot be opened')])
    await clock.advance(5000)
    await clock.advance(5000)
    expect(lot.hasRoom(settings, { upstream: 'api', route: null }, 1)).toBe(true)
    const notices = events.flatMap(event => (event.type === 'notice' ? [event.message] : []))
    expect(notices).toEqual(['the store redis://***@host:1 cannot be opened: read-only file system'])
    expect(JSON.stringify(events)).not.toContain('pass@')
  })
})
