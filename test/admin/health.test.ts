import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createHealthServer, type HealthDeps } from '../../src/admin/health.js'
import type { ManagedServer } from '../../src/admin/http-server.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { readPrometheusText } from '../telemetry/prometheus-text.js'
import { sidecarStatus } from '../telemetry/status.js'
import { call } from './call.js'

const servers: ManagedServer[] = []
afterEach(() => Promise.all(servers.splice(0).map(server => server.close())))

const metrics = createMetrics({ status: () => sidecarStatus() })

function health(over: Partial<HealthDeps> = {}): ManagedServer {
  const server = createHealthServer({ phase: () => 'ready', metrics, ...over })
  servers.push(server)
  return server
}

async function at(over: Partial<HealthDeps> = {}): Promise<string> {
  const [address = ''] = await health(over).listen('127.0.0.1:0')
  return address
}

describe('the probes', () => {
  it.each([
    ['starting', 200, 503, 503],
    ['ready', 200, 200, 200],
    ['stopping', 200, 503, 200],
  ] as const)('while %s: livez %d, readyz %d, startupz %d', async (phase, livez, readyz, startupz) => {
    const address = await at({ phase: () => phase })
    const replies = await Promise.all(['/livez', '/readyz', '/startupz'].map(path => call(address, 'GET', path)))
    expect(replies.map(({ status }) => status)).toEqual([livez, readyz, startupz])
  })

  it('turn red as soon as the phase changes', async () => {
    let phase: 'ready' | 'stopping' = 'ready'
    const address = await at({ phase: () => phase })
    expect((await call(address, 'GET', '/readyz')).status).toBe(200)
    phase = 'stopping'
    expect(await call(address, 'GET', '/readyz')).toMatchObject({ status: 503, body: 'stopping\n' })
  })

  it('answer any Host, since kubelet names the pod by its address', async () => {
    expect((await call(await at(), 'GET', '/readyz', { host: '10.1.2.3:15082' })).status).toBe(200)
  })

  it('answer HEAD without a body, and a query is no matter', async () => {
    expect(await call(await at(), 'HEAD', '/livez?verbose')).toMatchObject({ status: 200, body: '' })
  })
})

describe('the metrics page', () => {
  it('is Prometheus text', async () => {
    const { status, headers, body } = await call(await at(), 'GET', '/metrics')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(readPrometheusText(body).types.get('forbear_requests_total')).toBe('counter')
  })

  it('that cannot be rendered is a 500 and harms nothing else', async () => {
    const scrape = () => Promise.reject(new Error('no figures'))
    const address = await at({ metrics: { scrape } })
    expect(await call(address, 'GET', '/metrics')).toMatchObject({
      status: 500,
      body: expect.stringContaining('no figures'),
    })
    expect((await call(address, 'GET', '/livez')).status).toBe(200)
  })
})

describe('everything else', () => {
  it.each(['/', '/status', '/policies', '/reload', '/livez/', '/../livez', '//', '/%'])(
    '%s is 404, whatever the method',
    async path => {
      const address = await at()
      for (const method of ['GET', 'POST']) {
        const { status, headers } = await call(address, method, path)
        expect([status, headers['content-type']]).toEqual([404, 'application/problem+json'])
      }
    },
  )

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s on a page is 405', async method => {
    expect(await call(await at(), method, '/livez')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('bytes that are no HTTP and clients that leave harm nothing', async () => {
    const address = await at()
    for (const bytes of [
      '\x16\x03\x01\0\0',
      'GET /livez HTTP/1.1\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n',
    ]) {
      const socket = connect(Number(address.split(':')[1]), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(bytes)
      socket.resetAndDestroy()
      await once(socket, 'close')
    }
    expect((await call(address, 'GET', '/livez')).status).toBe(200)
  })
})

describe('listening', () => {
  it('on localhost serves both loopback addresses on one port', async () => {
    const addresses = await health().listen('localhost:0')
    const ports = new Set(addresses.map(address => new URL(`http://${address}`).port))
    expect(ports.size).toBe(1)
    for (const address of addresses) expect((await call(address, 'GET', '/livez')).status).toBe(200)
    expect(addresses[0]).toMatch(/^127\.0\.0\.1:[1-9]/)
  })

  it('works on all addresses', async () => {
    const [address = ''] = await health().listen('0.0.0.0:0')
    expect((await call(address, 'GET', '/livez')).status).toBe(200)
  })

  it('says which address is taken', async () => {
    const address = await at()
    await expect(health().listen(address)).rejects.toThrow(`cannot listen on ${address}: `)
  })

  it('says what is wrong with an address', async () => {
    await expect(health().listen('example.com:1')).rejects.toThrow('neither localhost nor an IP address')
  })

  it('ends with close', async () => {
    const server = health()
    const [address = ''] = await server.listen('127.0.0.1:0')
    const idle = connect(Number(address.split(':')[1]), '127.0.0.1')
    await once(idle, 'connect')
    await server.close()
    await expect(call(address, 'GET', '/livez')).rejects.toThrow('ECONNREFUSED')
    idle.destroy()
  })
})
