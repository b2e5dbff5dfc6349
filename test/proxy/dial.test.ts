import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
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
