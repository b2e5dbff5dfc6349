import { describe, expect, test } from 'vitest'
import { parseCallAddress } from '../../src/policy/call-address.js'
import { nearUpstreams } from '../../src/policy/near-upstreams.js'
import { snapshotOf, together, upstream } from './set.js'

const snapshot = snapshotOf(
  together(
    upstream('listen: 127.0.0.1:15101\nmatch: { hosts: [payments.internal] }', 'payments'),
    upstream('match: { pathPrefix: /v1/bank }', 'bank'),
  ),
)

function near(url: string, headers: { name?: string; host?: string } = {}): string[] {
  const address = parseCallAddress(url)
  if (address === null) throw new Error(`no address: ${url}`)
  const { name = null, host = null } = headers
  return nearUpstreams(snapshot, { ...address, name, host }).map(({ upstream, text }) => `${upstream}: ${text}`)
}

describe('a call that no upstream takes is told of', () => {
  test('a prefix that it nearly has', () => {
    expect(near('/payment/x?y=1')).toEqual(['payments: its path prefix is /payments, the path begins with /payment'])
    expect(near('http://127.0.0.1:15080/v1/bnak/x')).toEqual([
      'bank: its path prefix is /v1/bank, the path begins with /v1/bnak',
    ])
    expect(near('/Payments/x')).toHaveLength(1)
  })

  test.for(['//payments/x', '/a/../payments/x'])('a prefix that it has only once it is resolved: %s', url => {
    expect(near(url)).toEqual(['payments: its path prefix is /payments; paths count as they are sent, unresolved'])
  })

  test('a host that it nearly names', () => {
    expect(near('http://payment.internal/x')).toEqual([
      'payments: its host is payments.internal, the call is for payment.internal',
    ])
    expect(near('/x', { host: 'payments.intrenal:80' })).toEqual([
      'payments: its host is payments.internal, the call is for payments.intrenal',
    ])
  })

  test('a port that is another', () => {
    expect(near('http://127.0.0.1:15102/x')).toEqual(['payments: its own port is 127.0.0.1:15101'])
    expect(near('https://payments.example.com:8443/x')).toEqual([
      'payments: its target is payments.example.com:443, the call is for payments.example.com:8443',
    ])
  })

  test('no prefix, where the address nearly is an own port or one letter is all there is', () => {
    const own = 'listen: 127.0.0.1:15101'
    const set = snapshotOf(together(upstream(own, 'payments'), upstream('', 'c')))
    const asked = (url: string) => {
      const address = parseCallAddress(url)
      return address === null ? [] : nearUpstreams(set, { ...address, name: null, host: null })
    }
    expect(asked('http://127.0.0.1:15102/cc').map(({ missed }) => missed)).toEqual(['port'])
    expect(asked('/x').map(({ missed }) => missed)).toEqual([null, null])
  })

  test('a name that its header nearly gives', () => {
    expect(near('/x', { name: 'payment' })).toEqual(['payments: its name is payments, forbear-upstream says payment'])
  })

  test('what there is, where nothing is near', () => {
    expect(near('/zzzzzzzz')).toEqual([
      'payments: it takes /payments and payments.internal on the shared port, and everything on 127.0.0.1:15101',
      'bank: it takes /v1/bank on the shared port',
    ])
  })
})
