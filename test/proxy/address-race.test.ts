import type { LookupAddress } from 'node:dns'
import { connect, Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { AddressRace } from '../../src/proxy/address-race.js'
import { RawUpstream } from './support/call.js'
import { clearStage, onClear } from './support/stage.js'

afterEach(clearStage)

const at = (address: string): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })

/** A socket on its way to where nobody answers. */
const silent = () => new Socket()

interface Race {
  readonly clock: VirtualClock
  readonly race: AddressRace
  readonly opened: { readonly address: string; readonly atMs: number; readonly socket: Socket }[]
  readonly over: Promise<{ readonly error: Error | null; readonly socket: Socket | null }>
}

function start(addresses: readonly string[], open: (address: string) => Socket, timeoutMs = 3_000): Race {
  const clock = new VirtualClock(0)
  const opened: Race['opened'] = []
  let race: AddressRace | undefined
  const over = new Promise<{ error: Error | null; socket: Socket | null }>(resolve => {
    const tracked = (address: string) => {
      const socket = open(address)
      opened.push({ address, atMs: clock.nowMs(), socket })
      return socket
    }
    race = new AddressRace(addresses.map(at), timeoutMs, clock, tracked, (error, socket) => resolve({ error, socket }))
  })
  onClear(async () => race?.cancel())
  return { clock, race: race as AddressRace, opened, over }
}

const failing = (code: string) => () => {
  const socket = new Socket()
  queueMicrotask(() => socket.destroy(Object.assign(new Error(code), { code })))
  return socket
}

describe('a race of addresses', () => {
  it('gives a silent one 250 ms before the next is tried, and keeps what answers', async () => {
    const raw = await RawUpstream.start(() => {})
    onClear(() => raw.close())
    const alive = () => connect(raw.port, '127.0.0.1')
    const { clock, opened, over } = start(['2001:db8::1', '192.0.2.1'], address =>
      address.includes(':') ? silent() : alive(),
    )
    await clock.advance(249)
    expect(opened.map(one => one.address)).toEqual(['2001:db8::1'])
    await clock.advance(1)
    const { socket } = await over
    expect(socket?.remoteAddress).toBe('127.0.0.1')
    expect(opened[0]?.socket.destroyed).toBe(true)
    socket?.destroy()
  })

  it('does not give a slow one up while others are tried', async () => {
    const { clock, opened, over } = start(['2001:db8::1', '192.0.2.1'], silent)
    await clock.advance(600)
    opened[0]?.socket.emit('connect')
    expect((await over).socket).toBe(opened[0]?.socket)
    expect(opened.map(one => one.socket.destroyed)).toEqual([false, true])
  })

  it('goes on at once from one that refuses', async () => {
    const { clock, opened } = start(['2001:db8::1', '192.0.2.1'], address =>
      address.includes(':') ? failing('ECONNREFUSED')() : silent(),
    )
    await clock.advance(0)
    await new Promise(resolve => setImmediate(resolve))
    expect(opened.map(one => [one.address, one.atMs])).toEqual([
      ['2001:db8::1', 0],
      ['192.0.2.1', 0],
    ])
  })

  it('takes the families in turn, the preferred one first, four addresses at most', async () => {
    const { clock, opened } = start(['::1', '::2', '::3', '::4', '1.1.1.1', '2.2.2.2'], silent)
    await clock.advance(2_000)
    expect(opened.map(one => [one.address, one.atMs])).toEqual([
      ['::1', 0],
      ['1.1.1.1', 250],
      ['::2', 500],
      ['2.2.2.2', 750],
    ])
  })

  it('gives every address its turn within a short time', async () => {
    const { clock, opened } = start(['::1', '1.1.1.1', '::2'], silent, 100)
    await clock.advance(99)
    expect(opened.map(one => one.atMs)).toEqual([0, 25, 50])
  })

  it('that nobody wins ends with the error that says most', async () => {
    const codes: Record<string, string> = { '::1': 'ENETUNREACH', '1.1.1.1': 'ECONNREFUSED', '::2': 'ENETUNREACH' }
    const { over } = start(Object.keys(codes), address => failing(codes[address] ?? '')())
    expect((await over).error).toMatchObject({ code: 'ECONNREFUSED' })
    const { over: nowhere } = start(['::1', '::2'], failing('ENETUNREACH'))
    expect((await nowhere).error).toMatchObject({ code: 'ENETUNREACH' })
  })

  it('that is called off leaves no socket and no timer', async () => {
    const { clock, race, opened } = start(['::1', '1.1.1.1', '::2'], silent)
    await clock.advance(250)
    race.cancel()
    expect(opened.map(one => one.socket.destroyed)).toEqual([true, true])
    expect(clock.pendingTimers).toBe(0)
  })
})
