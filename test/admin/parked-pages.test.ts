import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AdminDeps, createAdminServer } from '../../src/admin/admin.js'
import type { ManagedServer } from '../../src/admin/http-server.js'
import { adminCalls } from '../../src/park/admin-client.js'
import type { LevelStore } from '../../src/park/level-store.js'
import { type ParkedCalls, parkedCalls } from '../../src/park/views.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { BODY, PARKED_ID, parkedRecord, type StoreDir, storeDir } from '../support/parked.js'
import { sidecarStatus } from '../telemetry/status.js'
import { observerOf } from './observer.js'

let place: StoreDir
let store: LevelStore
const servers: ManagedServer[] = []

beforeEach(async () => {
  place = await storeDir()
  store = await place.open()
  await store.add(parkedRecord(), BODY)
})
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.close()))
  await store.close()
  await place.remove()
})

async function served(parked: ParkedCalls | null = parkedCalls(() => [store])): Promise<string> {
  const server = createAdminServer({
    phase: () => 'ready',
    metrics: createMetrics({ status: () => sidecarStatus() }),
    status: () => sidecarStatus(),
    policies: () => ({ store: 'redis://user:p@ss@redis:6379' }),
    policy: () => undefined,
    observer: observerOf(),
    parseDurationMs: () => null,
    parked: () => parked,
    actions: {} as AdminDeps['actions'],
  })
  servers.push(server)
  return (await server.listen('127.0.0.1:0'))[0] as string
}

const ask = (address: string, path: string, init: RequestInit = {}) => fetch(`http://${address}${path}`, init)
const POST = { method: 'POST' }

describe('the pages of parked calls', () => {
  it('list entries without header values, query and body', async () => {
    const text = await (await ask(await served(), '/parked')).text()
    expect(JSON.parse(text).entries).toEqual([
      expect.objectContaining({ id: PARKED_ID, state: 'waiting', path: '/orders/<b>' }),
    ])
    expect(text).not.toMatch(/t0ken|sealed-text|k1"/)
  })

  it('show one, make it due and drop it, by POST only', async () => {
    const address = await served()
    const at = `/parked/${PARKED_ID}`
    expect((await ask(address, at)).status).toBe(200)
    expect((await ask(address, `${at}/retry`)).status).toBe(405)
    expect((await ask(address, at, POST)).status).toBe(405)
    expect((await ask(address, `${at}/retry`, POST)).status).toBe(200)
    expect((await ask(address, `${at}/drop`, POST)).status).toBe(200)
    expect((await ask(address, `${at}/drop`, POST)).status).toBe(404)
  })

  it('let no page of another origin change anything', async () => {
    const address = await served()
    const foreign = { ...POST, headers: { origin: 'http://evil.example' } }
    expect((await ask(address, `/parked/${PARKED_ID}/drop`, foreign)).status).toBe(403)
    expect(await store.get(PARKED_ID)).not.toBeNull()
  })

  it('say that what has ended cannot be made due', async () => {
    await store.add(parkedRecord({ id: 'done', state: 'delivered', endedAtMs: Date.now(), headers: [] }), BODY)
    const answer = await ask(await served(), '/parked/done/retry', POST)
    expect([answer.status, await answer.json()]).toEqual([
      409,
      expect.objectContaining({ detail: expect.stringContaining('delivered') }),
    ])
  })

  it('are there, and empty, while nothing parks', async () => {
    const address = await served(null)
    expect(await (await ask(address, '/parked')).json()).toEqual({ entries: [] })
    expect((await ask(address, '/parked/export')).status).toBe(404)
    expect(await (await ask(address, '/')).text()).not.toContain('Parked calls')
  })

  it('have a section on the index page, in which nothing of a call is markup', async () => {
    const page = await (await ask(await served(), '/')).text()
    expect(page).toContain('1 waiting, 0 dead')
    expect(page).toContain(`<a href="/parked/${PARKED_ID}">`)
    expect(page).not.toContain('<b>')
  })

  it('are what `forbear parked` reads of a running sidecar', async () => {
    const calls = adminCalls(await served())
    expect((await calls.list()).map(({ id }) => id)).toEqual([PARKED_ID])
    expect(await calls.show(PARKED_ID)).toMatchObject({ upstream: 'shop' })
    expect(await calls.show('nobody')).toBeNull()
    expect(await calls.exported()).toContain('sealed-text')
    expect([await calls.retry(PARKED_ID), await calls.retry('nobody')]).toEqual([true, false])
    expect([await calls.drop(PARKED_ID), await calls.drop(PARKED_ID)]).toEqual([true, false])
  })

  it('show no password of a store in the policies', async () => {
    const text = await (await ask(await served(), '/policies')).text()
    expect(text).toContain('redis://***@redis:6379')
  })
})
