import { afterEach, describe, expect, it } from 'vitest'
import type { AdminActions } from '../../src/admin/actions.js'
import { type AdminDeps, createAdminServer } from '../../src/admin/admin.js'
import type { ManagedServer } from '../../src/admin/http-server.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { sidecarStatus, upstreamStatus } from '../telemetry/status.js'
import { call } from './call.js'
import { observerOf } from './observer.js'

const servers: ManagedServer[] = []
afterEach(() => Promise.all(servers.splice(0).map(server => server.close())))

function setUp(over: Partial<AdminDeps> = {}, actions: Partial<AdminActions> = {}) {
  const done: string[] = []
  const server = createAdminServer({
    phase: () => 'ready',
    metrics: createMetrics({ status: () => sidecarStatus() }),
    status: () => sidecarStatus(),
    policies: () => ({}),
    policy: upstream => (upstream === 'payments' ? { target: {} } : undefined),
    observer: observerOf(),
    parked: () => null,
    parseDurationMs: text => (/^\d+m$/.test(text) ? Number.parseInt(text, 10) * 60_000 : null),
    actions: {
      reload: async () => {
        done.push('reload')
        return { result: 'applied', messages: [] }
      },
      drain: () => void done.push('drain'),
      retriesOff: forMs => void done.push(`retries off for ${forMs}`),
      retriesOn: () => void done.push('retries on'),
      faultsOn: forMs => void done.push(`faults on for ${forMs}`),
      faultsOff: () => void done.push('faults off'),
      setBreaker(upstream, setting) {
        done.push(`breaker ${upstream} ${setting}`)
        return upstream === 'payments'
      },
      resetBudget(upstream) {
        done.push(`budget ${upstream} reset`)
        return upstream === 'payments'
      },
      quit: () => void done.push('quit'),
      ...actions,
    },
    ...over,
  })
  servers.push(server)
  return { server, done }
}

async function started(over: Partial<AdminDeps> = {}, actions: Partial<AdminActions> = {}) {
  const { server, done } = setUp(over, actions)
  const [address = ''] = await server.listen('127.0.0.1:0')
  return {
    address,
    done,
    get: (path: string, headers: Record<string, string> = {}) => call(address, 'GET', path, headers),
    post: (path: string, headers: Record<string, string> = {}) => call(address, 'POST', path, headers),
  }
}

describe('pages', () => {
  it('include those of the health port', async () => {
    const { get } = await started()
    for (const path of ['/livez', '/readyz', '/startupz', '/metrics']) expect((await get(path)).status).toBe(200)
  })

  it('show the status, upstreams by name with their routes', async () => {
    const upstreams = [
      upstreamStatus({
        breaker: {
          state: 'open',
          mode: 'enforce',
          openForMs: Number.POSITIVE_INFINITY,
          failuresInARow: 3,
          held: 'open',
        },
      }),
      upstreamStatus({ route: 'place-order', inFlight: 9 }),
      upstreamStatus({ name: 'stock' }),
    ]
    const own = { address: '127.0.0.1:15101', state: 'failed', error: 'cannot listen' } as const
    const listeners = new Map([['payments', own]])
    const told = sidecarStatus({ upstreams, listeners, noPolicy: ['ledger'], kept: ['stock'] })
    const { get } = await started({ status: () => told })
    const { headers, body } = await get('/status')
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    const status = JSON.parse(body)
    expect(status).toMatchObject({
      generation: 3,
      hash: 'c0ffee',
      retries: 'on',
      draining: false,
      lastReloadError: null,
    })
    expect([status.noPolicy, status.kept]).toEqual([{ ledger: { listen: null } }, ['stock']])
    expect(Object.keys(status.upstreams)).toEqual(['payments', 'stock'])
    expect([status.upstreams.payments.listen, status.upstreams.stock.listen]).toEqual([own, null])
    expect(status.upstreams.payments.breaker).toEqual({
      state: 'open',
      mode: 'enforce',
      openForMs: 'none',
      failuresInARow: 3,
      held: 'open',
    })
    expect(status.upstreams.payments.routes['place-order'].inFlight).toBe(9)
    expect(status.upstreams.stock.routes).toEqual({})
  })

  it('show the effective policies with sets as lists and no end as none', async () => {
    const policies = () =>
      new Map([
        [
          'payments',
          { timeouts: { responseMs: Number.POSITIVE_INFINITY }, statuses: new Set([502, 503]), tls: {}, route: null },
        ],
      ])
    const { get } = await started({ policies })
    expect(JSON.parse((await get('/policies')).body)).toEqual({
      payments: { timeouts: { responseMs: 'none' }, statuses: [502, 503], tls: {}, route: null },
    })
  })

  it('are listed at /, and every link works', async () => {
    const { get } = await started()
    const { headers, body } = await get('/')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    const links = [...body.replace(/<template.*<\/template>/s, '').matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(
      ([, link]) => link ?? '',
    )
    expect(links.length).toBeGreaterThan(4)
    for (const link of links) expect((await get(link)).status).toBe(200)
  })

  it('that fail are a 500 problem', async () => {
    const { get } = await started({
      policies: () => {
        throw new Error('not loaded')
      },
    })
    expect(await get('/policies')).toMatchObject({
      status: 500,
      headers: { 'content-type': 'application/problem+json' },
    })
  })
})

describe('verbs', () => {
  it.each([
    ['/reload', 'reload'],
    ['/drain', 'drain'],
    ['/retries/off?for=5m', 'retries off for 300000'],
    ['/faults/on?for=5m', 'faults on for 300000'],
    ['/faults/on', 'faults on for 600000'],
    ['/faults/off', 'faults off'],
    ['/retries/off', 'retries off for 600000'],
    ['/retries/on', 'retries on'],
    ['/upstreams/payments/breaker?set=open', 'breaker payments open'],
    ['/upstreams/payments/breaker?set=auto', 'breaker payments auto'],
    ['/upstreams/payments/budget?reset', 'budget payments reset'],
  ])('POST %s does it and says so in JSON', async (path, deed) => {
    const { post, done } = await started()
    const { status, headers } = await post(path)
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(done).toEqual([deed])
  })

  it.each([
    '/reload',
    '/drain',
    '/retries/off',
    '/retries/on',
    '/upstreams/payments/breaker?set=open',
    '/upstreams/payments/budget?reset',
    '/quitquitquit',
  ])('GET %s changes nothing', async path => {
    const { get, done } = await started()
    expect(await get(path)).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    expect(done).toEqual([])
  })

  it('a rejected reload is a 422 with every message', async () => {
    const messages = ['a.yaml:1:1  spec.target  missing', 'a.yaml:2:1  spec.retry  unknown key']
    const { post } = await started({}, { reload: async () => ({ result: 'rejected', messages }) })
    const { status, headers, body } = await post('/reload')
    expect([status, headers['content-type']]).toEqual([422, 'application/problem+json'])
    expect(JSON.parse(body)).toMatchObject({ status: 422, title: 'Unprocessable Entity', result: 'rejected', messages })
  })

  it('a reload that throws is a 500', async () => {
    const { post } = await started({}, { reload: () => Promise.reject(new Error('disk gone')) })
    expect(JSON.parse((await post('/reload')).body)).toMatchObject({ status: 500, detail: 'disk gone' })
  })

  it.each(['/retries/off?for=soon', '/retries/off?for=0m', '/retries/off?for=1441m', '/retries/off?for='])(
    'POST %s is a 400',
    async path => {
      const { post, done } = await started()
      expect((await post(path)).status).toBe(400)
      expect(done).toEqual([])
    },
  )

  it('a breaker needs a known upstream and a known setting', async () => {
    const { post, done } = await started()
    expect((await post('/upstreams/nobody/breaker?set=open')).status).toBe(404)
    expect((await post('/upstreams/payments/breaker?set=ajar')).status).toBe(400)
    expect((await post('/upstreams/payments/breaker')).status).toBe(400)
    expect((await post('/upstreams/%zz/breaker?set=open')).status).toBe(404)
    expect((await post('/upstreams//breaker?set=open')).status).toBe(404)
    expect(done).not.toContain('breaker payments ajar')
  })

  it('a budget needs a known upstream and the word reset', async () => {
    const { post, done } = await started()
    expect((await post('/upstreams/nobody/budget?reset')).status).toBe(404)
    expect((await post('/upstreams/payments/budget')).status).toBe(400)
    expect((await post('/upstreams/payments/purse?reset')).status).toBe(404)
    expect(done).toEqual(['budget nobody reset'])
  })

  it('quitquitquit answers before it quits', async () => {
    let quit: () => void = () => undefined
    const hasQuit = new Promise<void>(resolve => (quit = resolve))
    const { post } = await started({}, { quit })
    expect((await post('/quitquitquit')).status).toBe(200)
    await hasQuit
  })
})

describe('web pages of others', () => {
  it.each([
    'evil.example',
    'evil.example:15081',
    '10.0.0.1:15081',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost:x',
  ])('cannot read or change anything under the Host %j', async host => {
    const { get, post, done } = await started()
    for (const path of ['/status', '/', '/metrics', '/policies', '/livez'])
      expect((await get(path, { host })).status).toBe(403)
    expect((await post('/drain', { host })).status).toBe(403)
    expect(done).toEqual([])
  })

  it.each(['localhost:1', '127.0.0.1', '[::1]:15081', 'LOCALHOST'])('the Host %s is our own', async host => {
    const { get } = await started()
    expect((await get('/status', { host })).status).toBe(200)
  })

  it.each(['https://evil.example', 'null', 'http://localhost:1', 'http://127.0.0.1'])(
    'cannot change anything from the Origin %s',
    async origin => {
      const { post, done } = await started()
      expect((await post('/drain', { origin })).status).toBe(403)
      expect(done).toEqual([])
    },
  )

  it('but a page of the admin port itself can', async () => {
    const { address, post, done } = await started()
    expect((await post('/drain', { origin: `http://${address}` })).status).toBe(200)
    expect(done).toEqual(['drain'])
  })
})

describe('listening', () => {
  it.each(['0.0.0.0:0', '[::]:0', '10.0.0.1:0'])('on %s is refused, with a word on why', async address => {
    await expect(setUp().server.listen(address)).rejects.toThrow(/only listen on loopback.*write 127\.0\.0\.1:0/)
  })

  it('on localhost is fine', async () => {
    const [address = ''] = await setUp().server.listen('localhost:0')
    expect((await call(address, 'GET', '/status')).status).toBe(200)
  })
})
