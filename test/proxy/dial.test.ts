import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { Dial, type DialTarget } from '../../src/proxy/dial.js'
import { Resolver } from '../../src/proxy/resolver.js'
import { RawUpstream } from './support/call.js'
import { clearStage, onClear } from './support/stage.js'
import { systemClock } from './support/system-clock.js'

afterEach(clearStage)

async function upstream(host: string): Promise<RawUpstream> {
  const raw = await RawUpstream.start(() => {}, host)
  onClear(() => raw.close())
  return raw
}

/** What it connected to, or the code of its error. */
function dial(port: number, resolver: Resolver, part: Partial<DialTarget> = {}): Promise<string | undefined> {
  const target = { protocol: 'http:', hostname: 'name.test', port, authority: '', basePath: '' } as const
  return new Promise(resolve => {
    const done = (error: Error | null, socket: Socket | null) => {
      resolve(socket?.remoteAddress ?? String((error as NodeJS.ErrnoException).code))
      socket?.destroy()
    }
    new Dial({ target, tls: null, session: null, ...part }, resolver, systemClock, 5_000, done)
  })
}

/** A name with these addresses; and how often it was asked for. */
function resolving(...addresses: string[]): { resolver: Resolver; asked: () => number } {
  let asked = 0
  const found = addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
  const resolver = new Resolver(systemClock, (_name, done) => {
    asked += 1
    done(null, found)
  })
  return { resolver, asked: () => asked }
}

describe('a dial to what not every address is permitted for', () => {
  const whyForbidden = (host: string) => (host === '127.0.0.2' || host === 'bad.test' ? 'forbidden' : null)

  it('calls the permitted addresses alone, and asks for the name once', async () => {
    const raw = await upstream('127.0.0.1')
    const { resolver, asked } = resolving('127.0.0.2', '127.0.0.1')
    for (let n = 0; n < 2; n++) expect(await dial(raw.port, resolver, { whyForbidden })).toBe('127.0.0.1')
    expect(asked()).toBe(1)
  })

  it('calls nobody when no address is', async () => {
    const raw = await upstream('127.0.0.2')
    const { resolver } = resolving('127.0.0.2')
    expect(await dial(raw.port, resolver)).toBe('127.0.0.2')
    expect(await dial(raw.port, resolver, { whyForbidden })).toBe('FORBIDDEN_ADDRESS')
    expect(raw.accepted).toBe(1)
  })

  it('does not even ask for a forbidden name, and checks addresses that are written out', async () => {
    const { resolver, asked } = resolving('127.0.0.1')
    const at = (hostname: string) => ({ protocol: 'http:', hostname, port: 9, authority: '', basePath: '' }) as const
    expect(await dial(9, resolver, { whyForbidden, target: at('bad.test') })).toBe('FORBIDDEN_ADDRESS')
    expect(await dial(9, resolver, { whyForbidden, target: at('127.0.0.2') })).toBe('FORBIDDEN_ADDRESS')
    expect(asked()).toBe(0)
  })
})

const hasIpv6 = Object.values(networkInterfaces()).some(infos => infos?.some(info => info.address === '::1'))
if (!hasIpv6) console.warn('skipped: dials over IPv6, for this host has no ::1')

describe.skipIf(!hasIpv6)('a dial to a name with addresses of both families', () => {
  it('calls the preferred one', async () => {
    const raw = await upstream('::1')
    expect(await dial(raw.port, resolving('::1', '127.0.0.1').resolver)).toBe('::1')
  })

  it('reaches the IPv4 one when the IPv6 one refuses, and the other way round', async () => {
    const v4 = await upstream('127.0.0.1')
    expect(await dial(v4.port, resolving('::1', '127.0.0.1').resolver)).toBe('127.0.0.1')
    const v6 = await upstream('::1')
    expect(await dial(v6.port, resolving('127.0.0.1', '::1').resolver)).toBe('::1')
  })

  it('fails when both do', async () => {
    const closed = await RawUpstream.start(() => {})
    await closed.close()
    expect(await dial(closed.port, resolving('::1', '127.0.0.1').resolver)).toBe('ECONNREFUSED')
  })
})
