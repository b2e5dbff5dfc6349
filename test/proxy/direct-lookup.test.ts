import { afterEach, describe, expect, it } from 'vitest'
import { directLookup } from '../../src/proxy/direct-lookup.js'
import { nameServer, type Records } from './support/name-server.js'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function stage(records: Records, files: { hosts?: string; resolvConf?: string } = {}) {
  const server = await nameServer(records)
  stops.push(server.stop)
  const lookup = directLookup({
    hosts: () => files.hosts ?? '',
    resolvConf: () => files.resolvConf ?? '',
    servers: [server.address],
  })
  const find = (name: string) =>
    new Promise(resolve =>
      lookup(name, (error, addresses) => resolve(error === null ? addresses.map(one => one.address) : error.code)),
    )
  return { find, asked: server.asked }
}

describe('a lookup without getaddrinfo', () => {
  it('believes the hosts file before any server', async () => {
    const hosts = '# c\n10.0.0.1\tOther A.Example # b\n::2 a.example\nnonsense b.example\n'
    const { find, asked } = await stage({}, { hosts })
    expect(await find('a.example')).toEqual(['10.0.0.1', '::2'])
    expect(await find('A.example.')).toEqual(['10.0.0.1', '::2'])
    expect(asked).toEqual([])
    expect(await find('b.example')).toBe('ENOTFOUND')
  })

  it('asks for IPv4 and, where there is none, for IPv6', async () => {
    const { find, asked } = await stage({
      'four.example': { a: '10.0.0.4' },
      'six.example': { aaaa: Buffer.from('20010db8000000000000000000000006', 'hex') },
    })
    expect(await find('four.example')).toEqual(['10.0.0.4'])
    expect(await find('six.example')).toEqual(['2001:db8::6'])
    expect(asked).toEqual(['four.example A', 'six.example A', 'six.example AAAA'])
  })

  it('follows the search list as the system does', async () => {
    const resolvConf = 'nameserver 10.9.9.9\nsearch ns.svc.local svc.local.\noptions timeout:1 ndots:2\n'
    const { find, asked } = await stage(
      { 'pay.svc.local': { a: '10.0.0.1' }, 'a.b.c': { a: '10.0.0.2' } },
      { resolvConf },
    )
    expect(await find('pay')).toEqual(['10.0.0.1'])
    expect(await find('a.b.c')).toEqual(['10.0.0.2'])
    expect(await find('pay.')).toBe('ENOTFOUND')
    expect(asked).toEqual(['pay.ns.svc.local A', 'pay.svc.local A', 'a.b.c A', 'pay A'])
  })

  it('goes on to the next candidate only when there is no such name', async () => {
    const resolvConf = 'search broken.example good.example'
    const { find } = await stage(
      { 'pay.broken.example': 'servfail', 'pay.good.example': { a: '10.0.0.1' } },
      { resolvConf },
    )
    expect(await find('pay')).toBe('ESERVFAIL')
  })

  it('calls back with an error for a name that is none', async () => {
    const { find } = await stage({})
    expect(await find('a..b')).toEqual(expect.any(String))
    expect(await find('x'.repeat(300))).toEqual(expect.any(String))
  })
})
