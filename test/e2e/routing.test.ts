import { describe, expect } from 'vitest'
import { call, problem, rawCall } from './harness/client.js'
import { policyDoc, quickRetry, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

interface Town {
  readonly payments: Upstream
  readonly ledger: Upstream
  readonly sidecar: Sidecar
  /** Of `ledger`. */
  readonly ownPort: number
}

/** `payments` on the shared port alone, `ledger` with an own port, an own prefix and a base path. */
async function town(stage: Stage): Promise<Town> {
  const payments = (await stage.upstream()).plays({ body: 'payments' })
  const ledger = (await stage.upstream()).plays({ body: 'ledger' })
  const ownPort = await freePort()
  const sidecar = await stage.sidecar([
    upstreamDoc('payments', payments.url, { match: { hosts: ['payments.internal'] } }),
    upstreamDoc('ledger', `${ledger.url}/base`, {
      listen: `127.0.0.1:${ownPort}`,
      match: { hosts: ['ledger.internal'], pathPrefix: '/books/main' },
    }),
  ])
  return { payments, ledger, sidecar, ownPort }
}

describe('a call finds its upstream', () => {
  test('by the path prefix, which is stripped', async ({ stage }) => {
    const { payments, ledger, sidecar } = await town(stage)
    for (const path of ['/payments/v1/orders?id=1', '/payments', '/payments?id=1', '/payments/']) {
      expect((await sidecar.call(path)).text).toBe('payments')
    }
    expect(payments.received.map(one => one.url)).toEqual(['/v1/orders?id=1', '/', '/?id=1', '/'])
    expect((await sidecar.call('/books/main/page/1')).text).toBe('ledger')
    expect(ledger.nth(1).url).toBe('/base/page/1')
  })

  test('by the longest prefix at a segment boundary', async ({ stage }) => {
    const short = (await stage.upstream()).plays({ body: 'short' })
    const long = (await stage.upstream()).plays({ body: 'long' })
    const sidecar = await stage.sidecar([
      upstreamDoc('short', short.url, { match: { pathPrefix: '/api' } }),
      upstreamDoc('long', long.url, { match: { pathPrefix: '/api/v2' } }),
    ])
    expect((await sidecar.call('/api/v1/x')).text).toBe('short')
    expect((await sidecar.call('/api/v2/x')).text).toBe('long')
    expect((await sidecar.call('/api/v20/x')).text).toBe('short')
    expect((await sidecar.call('/apis')).status).toBe(404)
    expect([long.nth(1).url, short.nth(2).url]).toEqual(['/x', '/v20/x'])
  })

  test('by its own port, where nothing is stripped', async ({ stage }) => {
    const { ledger, ownPort } = await town(stage)
    expect((await call(ownPort, '/books/main/1?x=y')).text).toBe('ledger')
    expect((await call(ownPort, '/payments/1', { headers: { Host: 'payments.internal' } })).text).toBe('ledger')
    expect(ledger.received.map(one => one.url)).toEqual(['/base/books/main/1?x=y', '/base/payments/1'])
  })

  test('by Host, whatever its port and case, with the path as it is', async ({ stage }) => {
    const { payments, sidecar } = await town(stage)
    for (const Host of ['payments.internal', 'payments.internal:8080', 'PAYMENTS.internal']) {
      expect((await sidecar.call('/books/main/x', { headers: { Host } })).text).toBe('payments')
    }
    expect(payments.received.map(one => one.url)).toEqual(Array(3).fill('/books/main/x'))
  })

  test('by forbear-upstream, which is not passed on', async ({ stage }) => {
    const { payments, sidecar } = await town(stage)
    const headers = { 'forbear-upstream': 'payments', Host: 'ledger.internal' }
    expect((await sidecar.call('/x', { headers })).text).toBe('payments')
    expect(payments.nth(1).url).toBe('/x')
    expect(payments.nth(1).headers['forbear-upstream']).toBeUndefined()
  })

  test('by the absolute form, as with HTTP_PROXY, for a declared host and for the target itself', async ({ stage }) => {
    const { payments, ledger, sidecar } = await town(stage)
    expect((await sidecar.call('http://payments.internal/v1/x?y=1')).text).toBe('payments')
    expect((await sidecar.call(`${payments.url}/v1/x`)).text).toBe('payments')
    expect(payments.received.map(one => one.url)).toEqual(['/v1/x?y=1', '/v1/x'])
    expect(payments.nth(1).headers.host).toBe(`127.0.0.1:${payments.port}`)
    expect((await sidecar.call('http://ledger.internal/x', { headers: { 'forbear-upstream': 'payments' } })).text).toBe(
      'ledger',
    )
    expect(ledger.nth(1).url).toBe('/base/x')
  })
})

describe('a call that finds none', () => {
  test('gets 404 no-route as a problem', async ({ stage }) => {
    const { sidecar } = await town(stage)
    for (const path of ['/', '/nowhere', '/paymentsx', '/books', '/books/mainly']) {
      const answer = await sidecar.call(path)
      expect([path, answer.status, problem(answer).reason]).toEqual([path, 404, 'no-route'])
      expect(answer.headers['forbear-outcome']).toBe('no-route')
      expect(answer.headers['forbear-attempts']).toBe('0')
    }
    const unknown = await sidecar.call('/x', { headers: { 'forbear-upstream': 'nobody' } })
    expect([unknown.status, problem(unknown).reason]).toEqual([404, 'no-route'])
    expect(await sidecar.accessLine('/nowhere')).toMatchObject({ status: 404, outcome: 'no-route' })
  })

  test('is never forwarded: forbear is no open proxy', async ({ stage }) => {
    const { sidecar } = await town(stage)
    const stranger = (await stage.upstream()).plays({ body: 'stranger' })
    expect((await sidecar.call(`${stranger.url}/x`)).status).toBe(404)
    expect((await sidecar.call('/x', { headers: { Host: `127.0.0.1:${stranger.port}` } })).status).toBe(404)
    const connect = `CONNECT 127.0.0.1:${stranger.port} HTTP/1.1\r\nHost: 127.0.0.1:${stranger.port}\r\n\r\n`
    const reply = await rawCall(sidecar.port, `${connect}GET / HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect(reply).not.toMatch(/^HTTP\/1\.1 2/)
    expect([stranger.hits, stranger.connections]).toEqual([0, 0])
  })
})

describe('what the upstream sees', () => {
  test('is the path and query byte for byte', async ({ stage }) => {
    const { payments, sidecar } = await town(stage)
    const paths = ['/a//b/../c?x=%zz&y=%2F', '//double', '/%2e%2E/;p=1?', '/a?b?c=/payments/', "/!$&'()*+,;=:@[]|"]
    for (const path of paths) await sidecar.call(`/payments${path}`)
    expect(payments.received.map(one => one.url)).toEqual(paths)
  })

  test('is the Host of the target, or the one of the app with hostHeader: preserve', async ({ stage }) => {
    const upstream = await stage.upstream()
    const sidecar = await stage.sidecar([
      upstreamDoc('payments', upstream.url),
      upstreamDoc('keeps', upstream.url, { hostHeader: 'preserve' }),
    ])
    await sidecar.call('/payments/x', { headers: { Host: 'shop.example' } })
    await sidecar.call('/keeps/x', { headers: { Host: 'shop.example' } })
    expect(upstream.received.map(one => one.headers.host)).toEqual([`127.0.0.1:${upstream.port}`, 'shop.example'])
  })

  test('is each end-to-end field with its case, bytes, order and repetitions, and Via', async ({ stage }) => {
    const { payments, sidecar } = await town(stage)
    const sent = ['X-B', '2', 'x-a', '1', 'X-B', '3 \xe9', 'Accept', 'a/b;q=0.1', 'aUTHORIZATION', 'Bearer x']
    await sidecar.call('/payments/x', { headers: ['Host', 'app', ...sent] })
    const raw = payments.nth(1).rawHeaders
    const seen = raw.filter((_, at) => sent.includes(raw[at - (at % 2)] ?? ''))
    expect(seen).toEqual(sent)
    expect(payments.nth(1).headers.via).toMatch(/^1\.1 \S+/)
  })

  test('has no hop-by-hop field, neither the standard ones nor those that Connection nominates', async ({ stage }) => {
    const { payments, sidecar } = await town(stage)
    const headers = {
      Connection: 'keep-alive, X-Secret',
      'X-Secret': '1',
      'Keep-Alive': 'timeout=9',
      TE: 'trailers',
      'Proxy-Authorization': 'Basic eA==',
      'Proxy-Connection': 'keep-alive',
    }
    await sidecar.call('/payments/x', { headers })
    const names = Object.keys(payments.nth(1).headers)
    for (const name of ['x-secret', 'keep-alive', 'te', 'proxy-authorization', 'proxy-connection']) {
      expect(names).not.toContain(name)
    }
  })

  test('is decided per route by method and path, the first match wins', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const routes = [
      { name: 'one-order', match: { methods: ['GET'], path: '/v1/orders/{id}' }, retry: { maxAttempts: 2 } },
      { name: 'orders', match: { pathPrefix: '/v1/orders' }, retry: { maxAttempts: 3 } },
      { name: 'beta', match: { pathPrefix: '/v1', headers: { 'x-beta': 'yes' } }, retry: { maxAttempts: 4 } },
    ]
    const sidecar = await stage.sidecar([
      policyDoc('careful', { retry: quickRetry({ maxAttempts: 1 }), breaker: { mode: 'disabled' } }),
      policyDoc('default', { budget: { ratio: 1, minPerSecond: 100 }, retry: { maxAttempts: 9 } }),
      upstreamDoc('payments', upstream.url, { policyRef: 'careful', routes }),
    ])
    const attempts = async (path: string, headers = {}): Promise<unknown> =>
      (await sidecar.call(`/payments${path}`, { headers })).headers['forbear-attempts']
    expect(await attempts('/v1/orders/7?full=1')).toBe('2')
    expect(await attempts('/v1/orders/7/lines')).toBe('3')
    expect(await attempts('/v1/orders')).toBe('3')
    expect(await attempts('/v1/refunds', { 'X-Beta': 'yes' })).toBe('4')
    expect(await attempts('/v1/refunds')).toBe('1')
    expect((await sidecar.accessLine('/payments/v1/orders/7'))['route']).toBe('one-order')
  })
})

describe('a request that cannot be served as it is', () => {
  test('gets 508 loop on the third pass of the same sidecar', async ({ stage }) => {
    const [one, two] = [await freePort(), await freePort()]
    const sidecar = await stage.sidecar([
      upstreamDoc('loop', `http://127.0.0.1:${one}`, { listen: `127.0.0.1:${two}` }),
      upstreamDoc('back', `http://127.0.0.1:${two}`, { listen: `127.0.0.1:${one}` }),
    ])
    const answer = await sidecar.call('/loop/x')
    expect(answer.status).toBe(508)
    expect(problem(answer).reason).toBe('loop')
    await until('all passes are logged', () => sidecar.accessLines().length === 3)
    expect(sidecar.accessLines().filter(line => line['outcome'] === 'loop').length).toBe(1)
  })

  test('may pass the same sidecar twice', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const own = await freePort()
    const sidecar = await stage.sidecar([
      upstreamDoc('outer', `http://127.0.0.1:${own}`),
      upstreamDoc('inner', upstream.url, { listen: `127.0.0.1:${own}` }),
    ])
    const answer = await sidecar.call('/outer/x')
    expect([answer.status, answer.text]).toEqual([200, 'fine'])
  })

  test.for([
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: payments.internal\r\n\r\n'],
    ['an h2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an HTTP/1.1 request without Host', 'GET /payments/x HTTP/1.1\r\n\r\n'],
    ['bytes that are not HTTP', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
    [
      'both Content-Length and Transfer-Encoding',
      'POST /payments/x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG',
    ],
    [
      'two different Content-Length',
      'POST /payments/x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nContent-Length: 5\r\n\r\nabcdef',
    ],
  ] as const)('gets 400 for %s, and nothing reaches the upstream', async ([, bytes], { stage }) => {
    const { sidecar, payments } = await town(stage)
    expect(await rawCall(sidecar.port, bytes)).toMatch(/^HTTP\/1\.1 400 /)
    expect(payments.connections).toBe(0)
    expect(await sidecar.health('/livez')).toBe(200)
  })

  test('gets 431 for headers that are too large, and nothing reaches the upstream', async ({ stage }) => {
    const { sidecar, payments } = await town(stage)
    const bytes = `GET /payments/x HTTP/1.1\r\nHost: a\r\nCookie: ${'c'.repeat(20_000)}\r\n\r\n`
    expect(await rawCall(sidecar.port, bytes)).toMatch(/^HTTP\/1\.1 431 /)
    expect(payments.connections).toBe(0)
  })
})
