import { describe, expect, it } from 'vitest'
import { inNamespace, whyNoNamespace } from './harness/namespace.js'

const noBlackHole = whyNoNamespace('black-holed IPv6', [
  'ip link set lo up && ip -6 addr add 2001:db8::80/128 dev lo',
  'ip6tables -A INPUT -p tcp -j DROP',
  'mount --bind /etc/hosts /etc/hosts',
])
const noPeer = whyNoNamespace('an undeclared host on another host', [
  'ip link add wire type veth peer name far',
  'nsenter -t $$ -n true',
  'mount --bind /etc/hosts /etc/hosts',
])

describe.skipIf(noBlackHole !== null)('a name whose IPv6 address swallows every packet', () => {
  it('is reached over IPv4 within one connect clock', async () => {
    const { first, order } = (await inNamespace('ipv6-blackhole.mjs')) as {
      first: { status: number; text: string; ms: number }
      order: string[]
    }
    expect(order[0]).toBe('2001:db8::80')
    expect([first.status, first.text]).toEqual([200, 'both GET /x for both.test:8001'])
    // The IPv6 address had its lead.
    expect(first.ms).toBeGreaterThan(240)
  })
})

const noSlowFirst = whyNoNamespace('a slow first address', [
  'ip link set lo up && ip -6 addr add 2001:db8::80/128 dev lo && ip addr add 192.0.2.80/32 dev lo',
  'ip6tables -A INPUT -p tcp --syn -m statistic --mode nth --every 2 --packet 0 -j DROP',
  'iptables -A INPUT -p tcp -j DROP',
  'mount --bind /etc/hosts /etc/hosts',
])

describe.skipIf(noSlowFirst !== null)('a name whose first address answers late and whose second never', () => {
  it('is reached by a call and by a handshake, since the first is not given up', async () => {
    expect(await inNamespace('slow-first-address.mjs')).toEqual({ call: 200, handshake: 200 })
  })
})

describe.skipIf(noPeer !== null)('with --unmatched tunnel, a CONNECT', () => {
  it('reaches hosts that nobody declared, but not under a link-local or an own address', async () => {
    const { answers, lines } = (await inNamespace('unmatched.mjs')) as { answers: unknown; lines: object[] }
    expect(answers).toEqual({
      // What the sidecar keeps the app from could be reached without it.
      nearby: 'peer GET / for 169.254.169.254:8443',
      '192.0.2.80': 'peer GET /x for h',
      '[::ffff:192.0.2.80]': 'peer GET /x for h',
      'peer.test': 'peer GET /x for h',
      'trap.test': '404',
      'self.test': '404',
      // Declared.
      '169.254.169.254': 'peer GET /x for h',
      other: '502',
    })
    const told = lines.map(line => (line as { upstream: string }).upstream)
    expect([...new Set(told)].sort()).toEqual(['_unmatched', 'declared'])
  })
})
