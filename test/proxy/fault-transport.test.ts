import { expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import type { Attempt, AttemptListener, AttemptRequest, Transport } from '../../src/pipeline/ports.js'
import { FaultTransport } from '../../src/proxy/fault-transport.js'

it('a rehearsed answer can be read before it is known what becomes of it, like any other', async () => {
  const clock = new VirtualClock(0)
  const told: string[] = []
  const real: Transport = {
    send: () => {
      throw new Error('the upstream was called')
    },
    settle() {},
  }
  const fault = { delayMs: 100, then: { kind: 'status', status: 429 } } as const
  let attempt: Attempt | null = null
  const listener: AttemptListener = {
    onSent: () => told.push('sent'),
    onInterim() {},
    onHead: ({ status }) => {
      told.push(`head ${status}`)
      attempt?.read(1000)
    },
    onRead: whole => told.push(whole ? 'read' : 'overrun'),
    onFailure: () => told.push('failure'),
    onDelivered: () => told.push('delivered'),
    onCut: () => told.push('cut'),
  }
  attempt = new FaultTransport(real, clock).send({ fault } as unknown as AttemptRequest, listener)
  await clock.advance(200)
  expect(told).toEqual(['sent', 'head 429', 'read'])
  expect(attempt.held()?.head.status).toBe(429)
  expect(attempt.held()?.body.length).toBeGreaterThan(0)
})
