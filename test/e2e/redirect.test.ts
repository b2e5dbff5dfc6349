import { describe, expect, it } from 'vitest'
import { inNamespace, whyNoNamespace } from './harness/namespace.js'

const skipped = whyNoNamespace('calls redirected by iptables', [
  'iptables -t nat -A OUTPUT -p tcp --dport 80 -j REDIRECT --to-ports 15080',
])

describe.skipIf(skipped !== null)('an app that knows of no sidecar', () => {
  it('is served by Host when iptables redirects its calls to port 80', async () => {
    const { answers, lines } = (await inNamespace('redirect.mjs')) as {
      answers: { status: number; text: string }[]
      lines: object[]
    }
    expect(answers.map(answer => answer.status)).toEqual([200, 200, 404])
    expect(answers[0]?.text).toBe('payments GET /x?y=1 for 127.0.0.1:8001')
    expect(answers[1]?.text).toBe('orders GET /v2/x?y=1 for 127.0.0.1:8002')
    expect(lines).toMatchObject([
      { upstream: 'payments', outcome: 'delivered' },
      { upstream: 'orders', outcome: 'delivered' },
      { upstream: null, outcome: 'no-route' },
    ])
  })
})
