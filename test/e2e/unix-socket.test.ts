import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { problem } from './harness/client.js'
import { ample, type Document, quickRetry, upstreamDoc } from './harness/policies.js'
import { type Stage, test } from './harness/stage.js'
import { sleep } from './harness/time.js'

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const credentials = { cert: readFileSync(fixture('server.pem')), key: readFileSync(fixture('server-key.pem')) }

const isRoot = process.getuid?.() === 0
if (isRoot) console.warn('skipped: a socket without permission, for root has every permission')

/** Says what it was asked, on a socket file. */
function app(): Server {
  return createServer((req, res) => res.end(`${req.method} ${req.url} for ${req.headers.host}`))
}

async function listen(stage: Stage, server: Server, path: string): Promise<void> {
  server.listen(path)
  await once(server, 'listening')
  stage.later(async () => server.close())
}

async function socketFile(stage: Stage): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forbear-sock-'))
  stage.later(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'app.sock')
}

const local = (path: string, spec: Document = {}) => [upstreamDoc('local', `http://unix:${path}`, spec)]

describe('a target on a unix socket', () => {
  test('is called, with localhost as Host and the base path before every path', async ({ stage }) => {
    const file = await socketFile(stage)
    await listen(stage, app(), file)
    const sidecar = await stage.sidecar([
      ...local(file),
      upstreamDoc('base', `http://unix:${file}:/v1`),
      upstreamDoc('host', `http://unix:${file}`, { hostHeader: 'preserve' }),
    ])
    expect((await sidecar.call('/local/x?y=1')).text).toBe('GET /x?y=1 for localhost')
    expect((await sidecar.call('/base/x')).text).toBe('GET /v1/x for localhost')
    expect((await sidecar.call('/host/x', { headers: { Host: 'a.example' } })).text).toBe('GET /x for a.example')
    const status = JSON.parse((await sidecar.admin('/status')).text)
    expect(status.upstreams.base.target).toBe(`http://unix:${file}:/v1`)
  })

  test('that is not there is 502 connect, which names the file, and works once it is', async ({ stage }) => {
    const file = await socketFile(stage)
    const sidecar = await stage.sidecar(local(file, { retry: quickRetry({ maxAttempts: 2 }), budget: ample }))
    const answer = await sidecar.call('/local/x')
    expect([answer.status, problem(answer)]).toMatchObject([502, { reason: 'connect', attempts: 2 }])
    expect(problem(answer).detail).toBe(`Last attempt: connect ENOENT ${file}.`)
    await listen(stage, app(), file)
    expect((await sidecar.call('/local/x')).status).toBe(200)
  })

  test('whose server was restarted is called on the new socket, within one call', async ({ stage }) => {
    const file = await socketFile(stage)
    const first = app() as import('node:http').Server
    first.listen(file)
    await once(first, 'listening')
    const sidecar = await stage.sidecar(local(file, { retry: quickRetry(), budget: ample }))
    expect((await sidecar.call('/local/1')).status).toBe(200)
    first.close()
    first.closeAllConnections()
    await once(first, 'close')
    const answer = sidecar.call('/local/2')
    await sleep(15)
    await listen(stage, app(), file)
    expect((await answer).text).toBe('GET /2 for localhost')
  })

  test('that a dead server left behind is 502 connect', async ({ stage }) => {
    const file = await socketFile(stage)
    const script = `require('net').createServer().listen(${JSON.stringify(file)}, () => process.kill(process.pid, 'SIGKILL'))`
    await once(spawn(process.execPath, ['-e', script]), 'exit')
    const sidecar = await stage.sidecar(local(file, { retry: { maxAttempts: 1 } }))
    expect(problem(await sidecar.call('/local/x')).detail).toBe(`Last attempt: connect ECONNREFUSED ${file}.`)
  })

  test.skipIf(isRoot)('without permission is 502 connect', async ({ stage }) => {
    const file = await socketFile(stage)
    await listen(stage, app(), file)
    chmodSync(file, 0)
    const sidecar = await stage.sidecar(local(file))
    expect(problem(await sidecar.call('/local/x')).detail).toBe(`Last attempt: connect EACCES ${file}.`)
  })

  test('takes WebSockets, and tunnels under a name of match.hosts', async ({ stage }) => {
    const file = await socketFile(stage)
    const server = app()
    const sockets = new WebSocketServer({ server: server as import('node:http').Server })
    sockets.on('connection', (socket, req) => socket.send(`hello ${req.url}`))
    await listen(stage, server, file)
    const sidecar = await stage.sidecar(local(file, { match: { hosts: ['app.internal'] } }))
    const ws = new WebSocket(`ws://127.0.0.1:${sidecar.port}/local/chat`)
    expect(String((await once(ws, 'message'))[0])).toBe('hello /chat')
    ws.terminate()
    const options = { host: '127.0.0.1', port: sidecar.port, method: 'CONNECT', path: 'app.internal:80', agent: false }
    const [res, socket] = await once(request(options).end(), 'connect')
    expect(res.statusCode).toBe(200)
    socket.write('GET /through HTTP/1.1\r\nHost: app.internal\r\nConnection: close\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toContain('GET /through for app.internal')
    const refused = await once(request({ ...options, path: 'localhost:80' }).end(), 'connect')
    expect(refused[0].statusCode).toBe(404)
    refused[1].destroy()
  })

  test('speaks TLS under the name of serverName', async ({ stage }) => {
    const file = await socketFile(stage)
    await listen(
      stage,
      createTlsServer(credentials, (_req, res) => res.end('secret')),
      file,
    )
    const tls = { caFile: fixture('ca.pem'), serverName: 'payments.test' }
    const sidecar = await stage.sidecar([
      upstreamDoc('good', `https://unix:${file}`, { tls }),
      upstreamDoc('bad', `https://unix:${file}`, { tls: { ...tls, serverName: 'other.test' } }),
    ])
    expect((await sidecar.call('/good/x')).text).toBe('secret')
    expect(problem(await sidecar.call('/bad/x'))).toMatchObject({ reason: 'connect', attempts: 1 })
  })
})
