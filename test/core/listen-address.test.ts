import { isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, isLoopback, parseListenAddress } from '../../src/core/listen-address.js'

describe('parseListenAddress', () => {
  it.each([
    ['localhost:15080', ['127.0.0.1', '::1'], 15080],
    ['LOCALHOST:1', ['127.0.0.1', '::1'], 1],
    ['127.0.0.1:0', ['127.0.0.1'], 0],
    ['0.0.0.0:15082', ['0.0.0.0'], 15082],
    ['[::1]:65535', ['::1'], 65535],
    ['[::]:80', ['::'], 80],
    ['[fe80::1:2]:80', ['fe80::1:2'], 80],
    ['[::ffff:10.0.0.1]:80', ['::ffff:10.0.0.1'], 80],
  ])('reads %s', (text, hosts, port) => {
    expect(parseListenAddress(text)).toEqual({ hosts, port })
  })

  it.each([
    '',
    '15080',
    ':15080',
    'localhost',
    'localhost:',
    'localhost:65536',
    'localhost:1x',
    'localhost:-1',
    '::1:80',
    '[::1]',
    '[:::1]:80',
    '[1:2]:80',
    '[12345::]:80',
    '[1.2.3.4::]:80',
    '[127.0.0.1]:80',
    '256.0.0.1:80',
    '1.2.3:80',
    '1.2.3.4.:80',
    'example.com:80',
    'http://localhost:80',
    ' localhost:80',
    'localhost:80\n',
  ])('refuses %j with a message that quotes it', text => {
    const result = parseListenAddress(text)
    expect(result).toHaveProperty('error', expect.stringContaining(text))
  })

  it('agrees with the platform on what an IPv6 address is', () => {
    const group = fc.oneof(
      fc.constantFrom('', '0', 'ffff', '12345', 'g', '1.2.3.4'),
      fc.stringMatching(/^[0-9a-f]{1,4}$/),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV6(),
          fc.array(group, { minLength: 1, maxLength: 9 }).map(parts => parts.join(':')),
        ),
        host => {
          expect('hosts' in parseListenAddress(`[${host}]:1`)).toBe(isIPv6(host))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('reads or explains any text', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '::',
      '1',
      ':',
      '.',
      '127.0.0.1',
      'localhost',
      ':80',
      ':99999',
      '@',
      ' ',
      '\0',
      '%',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 8 }).map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(text, value => {
        const result = parseListenAddress(value)
        if ('error' in result) {
          expect(result.error).toContain(value)
          return
        }
        expect(result.port).toBeLessThanOrEqual(65_535)
        expect(result.hosts.length).toBeGreaterThan(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('reads back what formatAddress writes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 0, max: 65_535 }), (host, port) => {
        expect(parseListenAddress(formatAddress(host, port))).toEqual({ hosts: [host], port })
      }),
    )
  })
})

describe('isLoopback', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '0:0:0:0:0:0:0:1', '0000::0001'])('holds for %s', host => {
    expect(isLoopback(host)).toBe(true)
  })

  it.each(['0.0.0.0', '10.0.0.1', '::', '::2', 'fe80::1', '127.example', '::ffff:127.0.0.1'])('fails for %s', host => {
    expect(isLoopback(host)).toBe(false)
  })
})
