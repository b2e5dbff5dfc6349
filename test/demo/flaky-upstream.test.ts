import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { FlakyUpstream } from '../../src/demo/flaky-upstream.js'
import type { Mode } from '../../src/demo/modes.js'

describe('the flaky upstream', () => {
  let clock: VirtualClock
  let chance: number
  let upstream: FlakyUpstream

  beforeEach(async () => {
    clock = new VirtualClock()
    chance = 0.5
    upstream = await FlakyUpstream.start({ host: '127.0.0.1', port: 0, clock, random: () => chance })
  })
  afterEach(() => upstream.close())

  const call = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${upstream.port}${path}`, init)
  const enter = async (mode: Mode | 'auto') =>
    expect((await call(`/__mode/${mode}`, { method: 'POST' })).status).toBe(200)

  it('tells what arrived', async () => {
    const response = await call('/orders/1?x=y', { method: 'DELETE', headers: { 'forbear-attempt': '2' } })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      method: 'DELETE',
      path: '/orders/1?x=y',
      attempt: 2,
      mode: 'healthy',
      status: 200,
      calls: 1,
    })
  })

  it('takes a body and a call without an attempt number', async () => {
    const response = await call('/orders', { method: 'POST', body: 'x'.repeat(100_000) })
    expect(await response.json()).toMatchObject({ method: 'POST', attempt: null })
  })

  it('answers 503 by chance while failing', async () => {
    await enter('failing')
    chance = 0.29
    expect((await call('/a')).status).toBe(503)
    chance = 0.3
    expect((await call('/a')).status).toBe(200)
  })

  it('limits by the second and says when to come back', async () => {
    await enter('limiting')
    const statuses = [(await call('/a')).status, (await call('/a')).status]
    const refused = await call('/a')
    expect([...statuses, refused.status, refused.headers.get('retry-after')]).toEqual([200, 200, 429, '1'])
    await clock.advance(1000)
    expect((await call('/a')).status).toBe(200)
  })

  it('waits before it answers while slow, and forgets the wait when the caller leaves', async () => {
    await enter('slow')
    const rotating = clock.pendingTimers
    const answered = call('/a')
    await until(() => clock.pendingTimers === rotating + 1)
    await clock.advance(1500)
    expect((await answered).status).toBe(200)
    const left = new AbortController()
    const abandoned = call('/a', { signal: left.signal })
    await until(() => clock.pendingTimers === rotating + 1)
    left.abort()
    await expect(abandoned).rejects.toThrow()
    await until(() => clock.pendingTimers === rotating)
  })

  it('resets connections while down, and can be called back to life', async () => {
    await enter('down')
    await expect(call('/a')).rejects.toThrow()
    expect(await (await call('/__stats')).json()).toMatchObject({ mode: 'down', answers: { reset: 1 } })
    await enter('healthy')
    expect((await call('/a')).status).toBe(200)
  })

  it('counts calls, repeats and answers', async () => {
    await call('/a')
    await call('/a', { headers: { 'forbear-attempt': '1' } })
    await call('/a', { headers: { 'forbear-attempt': '2' } })
    expect(await (await call('/__stats')).json()).toEqual({
      mode: 'healthy',
      automatic: true,
      calls: 3,
      repeats: 1,
      answers: { 200: 3 },
    })
  })

  it('goes round by itself', async () => {
    await clock.advance(20_000)
    expect(upstream.mode).toBe('slow')
    await enter('healthy')
    await enter('auto')
    await clock.advance(20_000)
    expect(upstream.mode).toBe('failing')
  })

  it('refuses unknown modes and reading commands', async () => {
    const unknown = await call('/__mode/angry', { method: 'POST' })
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ error: 'no mode angry' })
    expect((await call('/__mode/down')).status).toBe(405)
    expect(upstream.mode).toBe('healthy')
  })

  it('rejects when its port is taken', async () => {
    const second = FlakyUpstream.start({ host: '127.0.0.1', port: upstream.port, clock, random: () => 0 })
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 1))
}
