import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { TlsSettings } from '../../src/core/snapshot.js'
import { UndiciTransport } from '../../src/proxy/transport.js'
import { call, RawUpstream, snapshotOf, type UpstreamOptions, upstreamAt } from './support/call.js'
import { clearStage, OK, onClear } from './support/stage.js'
import { systemClock } from './support/system-clock.js'

const file = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
const caFile = file('ca.pem')

afterEach(clearStage)

async function stage(tls: TlsSettings, options: { server?: TlsOptions; upstream?: UpstreamOptions } = {}) {
  const secured: TLSSocket[] = []
  const server = createServer(
    { key: readFileSync(file('server.key')), cert: readFileSync(file('server.pem')), ...options.server },
    socket => {
      secured.push(socket)
      socket.on('error', () => {})
      socket.on('data', () => socket.write(OK))
    },
  )
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const upstream = upstreamAt(port, { protocol: 'https:', tls, ...options.upstream })
  const transport = new UndiciTransport({ clock: systemClock })
  transport.reconcile(snapshotOf(upstream))
  onClear(() => transport.destroy())
  onClear(async () => {
    for (const socket of secured) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { transport, upstream, secured }
}

describe('an https upstream', () => {
  it('is called over TLS, checked against caFile, on one reused connection', async () => {
    const { transport, upstream, secured } = await stage({ caFile })
    for (let n = 0; n < 2; n++) expect((await call(transport, upstream).over).end).toBe('delivered')
    expect(secured.length).toBe(1)
    expect(secured[0]?.alpnProtocol).toBeFalsy()
  })

  it('is asked for by serverName, which its certificate must carry', async () => {
    const good = await stage({ caFile, serverName: 'server.test' })
    expect((await call(good.transport, good.upstream).over).end).toBe('delivered')
    expect((good.secured[0] as TLSSocket & { servername: string }).servername).toBe('server.test')
    const bad = await stage({ caFile, serverName: 'other.test' })
    expect((await call(bad.transport, bad.upstream).over).failure).toMatchObject({
      kind: 'connect',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      permanent: true,
    })
  })

  it('with an unknown authority is a permanent connect failure', async () => {
    const { transport, upstream } = await stage({})
    const { failure } = await call(transport, upstream).over
    expect(failure).toMatchObject({ kind: 'connect', permanent: true })
    expect(transport.connections('up')).toBe(0)
  })

  it('gets our certificate when it asks for one, and fails the call without', async () => {
    const server = { requestCert: true, ca: readFileSync(caFile) }
    const certified = await stage({ caFile, certFile: file('client.pem'), keyFile: file('client.key') }, { server })
    expect((await call(certified.transport, certified.upstream).over).end).toBe('delivered')
    const bare = await stage({ caFile }, { server })
    const { failure } = await call(bare.transport, bare.upstream).over
    expect(failure).not.toBeNull()
  })

  it('whose files cannot be read fails each call, not the reload', async () => {
    const { transport, upstream } = await stage({ caFile: file('missing.pem') })
    expect((await call(transport, upstream).over).failure).toMatchObject({
      kind: 'connect',
      code: 'TLS_FILES',
      permanent: true,
    })
  })

  it('resumes its TLS session on the next connection', async () => {
    const { transport, upstream, secured } = await stage({ caFile })
    await call(transport, upstream).over
    await call(transport, upstream, { fresh: true }).over
    expect(secured.map(socket => socket.isSessionReused())).toEqual([false, true])
  })
})

describe('an https upstream that does not speak TLS', () => {
  it('and answers in plain text is a connect failure', async () => {
    const plain = await RawUpstream.start(socket => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const upstream = upstreamAt(plain.port, { protocol: 'https:', tls: { caFile } })
    const transport = new UndiciTransport({ clock: systemClock })
    onClear(() => transport.destroy())
    onClear(() => plain.close())
    expect((await call(transport, upstream).over).failure?.kind).toBe('connect')
  })

  it('and says nothing is cut by the connect clock', async () => {
    const mute = await RawUpstream.start(() => {})
    const upstream = upstreamAt(mute.port, { protocol: 'https:', tls: { caFile } })
    const transport = new UndiciTransport({ clock: systemClock })
    onClear(() => transport.destroy())
    onClear(() => mute.close())
    const { failure } = await call(transport, upstream, { connectTimeoutMs: 15 }).over
    expect(failure).toMatchObject({ kind: 'connect', code: 'CONNECT_TIMEOUT' })
  })

  it('and hangs up is a connect failure', async () => {
    const rude = await RawUpstream.start(socket => socket.end())
    const upstream = upstreamAt(rude.port, { protocol: 'https:', tls: { caFile } })
    const transport = new UndiciTransport({ clock: systemClock })
    onClear(() => transport.destroy())
    onClear(() => rude.close())
    expect((await call(transport, upstream).over).failure).toMatchObject({ kind: 'connect', code: 'ECONNRESET' })
  })
})
