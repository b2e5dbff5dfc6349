import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { whyForbidden } from '../../src/proxy/forbidden-address.js'

const hex = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

const IPV4 = {
  '0.0.0.0': 'not a host',
  '0.1.2.3': 'not a host',
  '127.0.0.1': 'loopback',
  '127.255.0.9': 'loopback',
  '169.254.169.254': 'link-local',
  '169.254.0.1': 'link-local',
  '100.100.100.200': 'a metadata service',
  '168.63.129.16': 'a metadata service',
  '192.0.0.192': 'a metadata service',
  '224.0.0.1': 'multicast',
  '239.255.255.250': 'multicast',
  '255.255.255.255': 'reserved or broadcast',
  '240.0.0.1': 'reserved or broadcast',
}

describe('a tunnel to a host that nobody declared never leads to', () => {
  it.each(Object.entries(IPV4))('%s (%s), however it is written', (address, why) => {
    expect(whyForbidden(address)).toBe(why)
    const embedded = [
      `::ffff:${address}`,
      `::ffff:${hex(address)}`,
      `0:0:0:0:0:FFFF:${hex(address)}`,
      `64:ff9b::${address}`,
      `64:ff9b::${hex(address)}`,
      `::ffff:0:${address}`,
      `2002:${hex(address)}::`,
      `2002:${hex(address)}:1234::1`,
    ]
    for (const one of embedded) expect(whyForbidden(one), one).not.toBeNull()
  })

  it.each([
    ['::', 'not a host'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['febf::1', 'link-local'],
    ['fd00:ec2::254', 'a metadata service'],
    ['FD00:0EC2:0:0:0:0:0:254', 'a metadata service'],
    ['fd20:ce::254', 'a metadata service'],
    ['ff02::1', 'multicast'],
    ['2001:0:1::1', 'a translated address'],
    ['64:ff9b:1::a00:1', 'a translated address'],
    ['metadata.google.internal', 'a metadata service'],
    ['Metadata.Google.Internal.', 'a metadata service'],
  ])('%s: %s', (address, why) => {
    expect(whyForbidden(address)).toBe(why)
  })

  it('any address of this host', () => {
    const own = Object.values(networkInterfaces()).flatMap(infos => infos ?? [])
    for (const { address } of own) expect(whyForbidden(address.replace(/%.*/, '')), address).not.toBeNull()
  })
})

describe('it may lead to', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '192.0.2.7',
    '198.51.100.1',
    '169.253.255.255',
    '169.255.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:db8::1',
    'fec0::1',
    '::ffff:192.0.2.7',
    '64:ff9b::c000:207',
    '2002:c000:207::',
    'example.com',
    'metadata.example.com',
  ])('%s', address => {
    expect(whyForbidden(address)).toBeNull()
  })
})
