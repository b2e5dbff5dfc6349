import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { get } from 'node:https'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fetch, ProxyAgent } from 'undici'
import { describe, expect } from 'vitest'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const ca = readFileSync(fixture('ca.pem'))
const credentials = { cert: readFileSync(fixture('server.pem')), key: readFileSync(fixture('server-key.pem')) }

const CURL = '/usr/bin/curl'
const noCurl = !existsSync(CURL)
if (noCurl) console.warn('skipped: curl through the tunnel, for there is no curl')

async function secureTown(stage: Stage): Promise<{ upstream: Upstream; sidecar: Sidecar; authority: string }> {
  const upstream = (await stage.upstream({ tls: credentials })).plays({ body: 'fine' })
  const sidecar = await stage.sidecar([upstreamDoc('payments', `https://localhost:${upstream.port}/base`)])
  return { upstream, sidecar, authority: `localhost:${upstream.port}` }
}

/** A CONNECT by hand: the socket of the tunnel, or the answer that refused it. */
function tunnel(port: number, authority: string): Promise<{ status: number; socket: Socket; text: string }> {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, method: 'CONNECT', path: authority, agent: false })
    req.on('connect', (res, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      if (res.statusCode === 200) return resolve({ status: 200, socket, text: '' })
      let text = ''
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('end', () => resolve({ status: res.statusCode ?? 0, socket, text }))
    })
    req.on('error', reject)
    req.end()
  })
}

/** An upstream of bare TCP that keeps its sockets. */
async function bare(stage: Stage, onSocket: (socket: Socket) => void): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = []
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.later(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, sockets }
}

async function toBare(stage: Stage, onSocket: (socket: Socket) => void, args: readonly string[] = []) {
  const upstream = await bare(stage, onSocket)
  const sidecar = await stage.sidecar([upstreamDoc('db', `http://127.0.0.1:${upstream.port}`)], args)
  const { socket } = await tunnel(sidecar.port, `127.0.0.1:${upstream.port}`)
  socket.on('error', () => {})
  stage.later(async () => socket.destroy())
  return { ...upstream, sidecar, socket }
}

describe('HTTPS through the sidecar as a proxy', () => {
  test('reaches a declared upstream from undici, end to end, base path and fields untouched', async ({ stage }) => {
    const { upstream, sidecar, authority } = await secureTown(stage)
    const dispatcher = new ProxyAgent({ uri: `http://127.0.0.1:${sidecar.port}`, requestTls: { ca } })
    stage.later(() => dispatcher.destroy())
    const answer = await fetch(`https://${authority}/x?y=1`, { dispatcher, method: 'POST', body: 'amount=1' })
    expect([answer.status, await answer.text()]).toEqual([200, 'fine'])
    expect(upstream.nth(1)).toMatchObject({ method: 'POST', url: '/x?y=1' })
    expect(upstream.nth(1).headers).not.toHaveProperty('via')
    expect(answer.headers.get('forbear-outcome')).toBeNull()
  })

  test('reaches it over a CONNECT by hand, under the name of match.hosts', async ({ stage }) => {
    const upstream = (await stage.upstream({ tls: credentials })).plays({ body: 'fine' })
    const hosts = { match: { hosts: ['payments.internal'] } }
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, hosts)])
    const { socket } = await tunnel(sidecar.port, 'payments.internal:443')
    const options = { socket, ca, servername: 'payments.test', agent: false, path: '/hand' }
    const [res] = await once(get(options), 'response')
    expect(res.statusCode).toBe(200)
    expect(upstream.nth(1).url).toBe('/hand')
    socket.destroy()
  })

  test.for(['', 'Host: a\r\nHost: b\r\n'])('is refused unless it has one Host field: %j', async (fields, { stage }) => {
    const { sidecar, authority } = await secureTown(stage)
    const socket = connect(sidecar.port, '127.0.0.1').setEncoding('latin1')
    stage.later(async () => socket.destroy())
    socket.write(`CONNECT ${authority} HTTP/1.1\r\n${fields}\r\n`)
    const [answer] = await once(socket, 'data')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.skipIf(noCurl)('reaches it from curl', async ({ stage }) => {
    const { upstream, sidecar, authority } = await secureTown(stage)
    const proxy = ['-sS', '--proxy', `http://127.0.0.1:${sidecar.port}`, '--cacert', fixture('ca.pem')]
    const { stdout } = await promisify(execFile)(CURL, [...proxy, `https://${authority}/curl`])
    expect(stdout).toBe('fine')
    expect(upstream.nth(1).url).toBe('/curl')
    await expect(promisify(execFile)(CURL, [...proxy, 'https://nobody.example/'])).rejects.toThrow(/404/)
  })

  test('is in access log and metrics as what it is: one connection', async ({ stage }) => {
    const { sidecar, authority } = await secureTown(stage)
    const { socket } = await tunnel(sidecar.port, authority)
    const line = await sidecar.accessLine(authority)
    expect(line).toMatchObject({
      upstream: 'payments',
      method: 'CONNECT',
      status: 200,
      outcome: 'delivered',
      attempts: 1,
    })
    socket.destroy()
    const metrics = await sidecar.metrics()
    const labels = { upstream: 'payments', method: 'CONNECT', outcome: 'delivered' }
    expect(metrics.sum('forbear_requests_total', labels)).toBe(1)
  })
})

describe('a CONNECT', () => {
  test('to a host that nobody declared is refused, and nothing is called', async ({ stage }) => {
    const { sidecar } = await secureTown(stage)
    const stranger = await stage.upstream()
    const { status, text } = await tunnel(sidecar.port, `127.0.0.1:${stranger.port}`)
    expect(status).toBe(404)
    expect(JSON.parse(text)).toMatchObject({ reason: 'no-route', status: 404 })
    expect(stranger.connections).toBe(0)
  })

  test('on an own port is refused', async ({ stage }) => {
    const upstream = await stage.upstream()
    const own = await freePort()
    await stage.sidecar([upstreamDoc('payments', upstream.url, { listen: `127.0.0.1:${own}` })])
    const { status, text } = await tunnel(own, `127.0.0.1:${upstream.port}`)
    expect([status, JSON.parse(text).reason]).toEqual([400, 'bad-request'])
    expect(JSON.parse(text).detail).toContain('shared port only')
    expect(upstream.connections).toBe(0)
  })

  test('is tried again while nothing listens, and stands once something does', async ({ stage }) => {
    const upstream = (await stage.upstream({ closed: true, port: await freePort() })).plays({ body: 'back' })
    const retry = { maxAttempts: 20, backoff: { kind: 'fixed', base: '50ms', jitter: 'none' } }
    const breaker = { mode: 'disabled' }
    const sidecar = await stage.sidecar([upstreamDoc('late', upstream.url, { retry, breaker, budget: ample })])
    const opened = tunnel(sidecar.port, `127.0.0.1:${upstream.port}`)
    await sleep(120)
    await upstream.open()
    const { status, socket } = await opened
    expect(status).toBe(200)
    socket.destroy()
    const line = await sidecar.accessLine(`127.0.0.1:${upstream.port}`)
    expect(Number(line['attempts'])).toBeGreaterThan(1)
  })

  test('that cannot stand is 502 connect after its attempts, and opens the breaker', async ({ stage }) => {
    const port = await freePort()
    const breaker = { consecutiveFailures: 3 }
    const retry = quickRetry({ maxAttempts: 3 })
    const sidecar = await stage.sidecar([
      upstreamDoc('dead', `http://127.0.0.1:${port}`, { retry, breaker, budget: ample }),
    ])
    const { status, text } = await tunnel(sidecar.port, `127.0.0.1:${port}`)
    expect([status, JSON.parse(text)]).toMatchObject([502, { reason: 'connect', attempts: 3, upstream: 'dead' }])
    expect(JSON.parse(text).detail).toContain('ECONNREFUSED')
    const last = await until('the breaker opens', async () => {
      const refused = await tunnel(sidecar.port, `127.0.0.1:${port}`)
      return refused.status === 503 && refused
    })
    expect(JSON.parse(last.text).reason).toBe('breaker-open')
  })

  test('passes bytes that came with it, and each end by itself', async ({ stage }) => {
    const { port, sockets, sidecar } = await toBare(stage, socket => {
      socket.on('data', chunk => socket.write(`<${chunk}>`))
      socket.on('end', () => socket.end('bye'))
    })
    const app = connect({ port: sidecar.port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    app.on('data', chunk => {
      text += chunk
    })
    app.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\nearly`)
    await until('the echo', () => text.includes('<early>'))
    expect(text).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n/)
    expect(text).not.toMatch(/content-length|transfer-encoding/i)
    app.end('last')
    await once(app, 'end')
    expect(text).toMatch(/<early><last>bye$/)
    expect(sockets.length).toBe(2)
  })

  test('lets the upstream end first, and the app still speak', async ({ stage }) => {
    let heard = ''
    const { socket } = await toBare(stage, upstream => {
      upstream.on('data', chunk => {
        heard += chunk
      })
      upstream.end('all I had')
    })
    socket.allowHalfOpen = true
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    await once(socket, 'end')
    expect(text).toBe('all I had')
    socket.end('thanks')
    await until('the upstream hears it', () => heard === 'thanks')
  })

  test('carries megabytes both ways to a slow reader, whole', async ({ stage }) => {
    const { socket } = await toBare(stage, upstream => upstream.pipe(upstream))
    const sent = Buffer.alloc(8 * 1024 * 1024, 'x')
    let received = 0
    socket.pause()
    socket.write(sent)
    await sleep(100)
    socket.on('data', chunk => {
      received += chunk.length
    })
    socket.resume()
    await until('all came back', () => received === sent.length)
  })

  test('ends for the app as a reset when the upstream resets', async ({ stage }) => {
    const { sockets, socket } = await toBare(stage, upstream => upstream.write('hello'))
    await once(socket, 'data')
    const broken = new Promise(resolve => socket.once('error', error => resolve((error as NodeJS.ErrnoException).code)))
    sockets[0]?.resetAndDestroy()
    expect(await broken).toBe('ECONNRESET')
  })

  test('ends for the upstream when the app goes', async ({ stage }) => {
    const { sockets, socket } = await toBare(stage, upstream => upstream.write('hello'))
    await once(socket, 'data')
    socket.resetAndDestroy()
    await until('the upstream is told', () => sockets[0]?.destroyed === true)
  })

  test('holds the drain up as long as its tunnel stands, and no longer than the drain period', async ({ stage }) => {
    const { sidecar, socket } = await toBare(stage, upstream => upstream.pipe(upstream), ['--drain-period', '3s'])
    sidecar.signal('SIGTERM')
    await sleep(500)
    socket.write('still here')
    expect(String((await once(socket, 'data'))[0])).toBe('still here')
    const closed = once(socket, 'close')
    expect((await sidecar.exitWithin(6_000)).code).toBe(0)
    await closed
  })
})

describe('with --unmatched tunnel, a CONNECT', () => {
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '127.1', '2130706433', '0.0.0.0', '[::]']
  test.for(hosts)('to %s never leads to this host', async (host, { stage }) => {
    const stranger = await stage.upstream()
    const sidecar = await stage.sidecar([upstreamDoc('payments', 'http://127.0.0.1:9')], ['--unmatched', 'tunnel'])
    const { status, text } = await tunnel(sidecar.port, `${host}:${stranger.port}`)
    expect([status, JSON.parse(text).reason]).toEqual([404, 'no-route'])
    expect(JSON.parse(text).detail).toMatch(/is (loopback|not a host), and is called only when it is declared/)
    expect(stranger.connections).toBe(0)
    const line = await sidecar.accessLine(`${host}:${stranger.port}`)
    expect(line).toMatchObject({ upstream: '_unmatched', method: 'CONNECT', outcome: 'no-route' })
    expect((await sidecar.metrics()).sum('forbear_requests_total', { upstream: '_unmatched' })).toBe(1)
  })

  test('never leads to a metadata service, nor to the ports of forbear itself', async ({ stage }) => {
    const sidecar = await stage.sidecar([upstreamDoc('payments', 'http://127.0.0.1:9')], ['--unmatched', 'tunnel'])
    const own = Object.values(networkInterfaces()).flatMap(infos => infos ?? [])
    const addresses = own.filter(info => info.family === 'IPv4').map(info => `${info.address}:${sidecar.adminPort}`)
    const metadata = ['169.254.169.254:80', 'metadata.google.internal:80', '[fd00:ec2::254]:80', '100.100.100.200:80']
    for (const authority of [...metadata, ...addresses]) {
      expect((await tunnel(sidecar.port, authority)).status, authority).toBe(404)
    }
  })

  test('to a declared upstream is as without it, and absolute-form stays refused', async ({ stage }) => {
    const upstream = await stage.upstream()
    const stranger = await stage.upstream()
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)], ['--unmatched', 'tunnel'])
    const { status, socket } = await tunnel(sidecar.port, `127.0.0.1:${upstream.port}`)
    socket.destroy()
    expect(status).toBe(200)
    expect((await sidecar.call(`${stranger.url}/x`)).status).toBe(404)
    expect(stranger.connections).toBe(0)
  })

  test.for(['0.0.0.0:0', '[::]:0', '10.0.0.1:0'])(
    'needs a listener on loopback: with %s it exits 2',
    async (listen, { stage }) => {
      const args = ['--unmatched', 'tunnel', '--listen', listen]
      const sidecar = await stage.spawn([upstreamDoc('payments', 'http://127.0.0.1:9')], args)
      expect((await sidecar.exitWithin(10_000)).code).toBe(2)
      expect(sidecar.output).toContain(`would make an open proxy of ${listen}: listen on loopback only`)
    },
  )
})
