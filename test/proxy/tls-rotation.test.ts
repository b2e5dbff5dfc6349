import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock/clock.js'
import type { TlsSettings, UpstreamSnapshot } from '../../src/core/snapshot.js'
import { TlsContexts } from '../../src/proxy/tls-context.js'
import { UndiciTransport } from '../../src/proxy/transport.js'
import type { Notice } from '../../src/telemetry/events.js'
import type { TlsStatus } from '../../src/telemetry/status.js'
import { RotatingSecret } from '../support/rotating-secret.js'
import { call, snapshotOf, upstreamAt } from './support/call.js'
import { clearStage, OK, onClear } from './support/stage.js'
import { systemClock } from './support/system-clock.js'

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)))

/** Two authorities that know nothing of each other, and what each has signed. */
const OLD = {
  ca: read('../fixtures/tls/ca.pem'),
  cert: read('../fixtures/tls/server.pem'),
  key: read('../fixtures/tls/server.key'),
}
const NEW = {
  ca: read('../e2e/fixtures/ca.pem'),
  cert: read('../e2e/fixtures/server.pem'),
  key: read('../e2e/fixtures/server-key.pem'),
}

afterEach(clearStage)

interface Stage {
  readonly secret: RotatingSecret
  readonly server: Server
  readonly sockets: TLSSocket[]
  readonly notices: Notice[]
  /** One call on a new connection: `delivered`, or the code of its failure. */
  readonly fresh: () => Promise<string>
  /** Time passes for the sidecar. */
  readonly pass: (ms: number) => void
  readonly tls: TlsContexts
  readonly transport: UndiciTransport
  readonly upstream: UpstreamSnapshot
  readonly status: () => TlsStatus | undefined
}

async function stage(files: Record<string, string | Buffer>, settings: readonly (keyof TlsSettings)[]): Promise<Stage> {
  const secret = new RotatingSecret(files)
  onClear(async () => secret.dispose())
  const sockets: TLSSocket[] = []
  const server = createServer({ ...OLD, ca: OLD.ca, requestCert: true, rejectUnauthorized: false }, socket => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => socket.write(OK))
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let passedMs = 0
  const clock: Clock = {
    nowMs: () => systemClock.nowMs() + passedMs,
    wallMs: () => systemClock.wallMs() + passedMs,
    after: (ms, fn) => systemClock.after(ms, fn),
  }
  const notices: Notice[] = []
  const tls = new TlsContexts(clock, notice => notices.push(notice))
  const named = Object.fromEntries(settings.map(name => [name, secret.path(name)]))
  const upstream = upstreamAt((server.address() as AddressInfo).port, { protocol: 'https:', tls: named })
  const transport = new UndiciTransport({ clock, tls })
  transport.reconcile(snapshotOf(upstream))
  onClear(() => transport.destroy())
  onClear(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const fresh = async () => {
    const ending = await call(transport, upstream, { fresh: true }).over
    return ending.failure?.code ?? ending.end
  }
  const status = () => tls.statuses(snapshotOf(upstream)).get(upstream.name)
  return { secret, server, sockets, notices, fresh, pass: ms => (passedMs += ms), tls, transport, upstream, status }
}

describe('when the files of a tls section rotate', () => {
  it('new connections trust the new authority within seconds, without an edit', async () => {
    const { secret, server, fresh, pass, notices } = await stage({ caFile: OLD.ca }, ['caFile'])
    expect(await fresh()).toBe('delivered')
    server.setSecureContext(NEW)
    secret.rotate({ caFile: NEW.ca })
    pass(10_000)
    expect(await fresh()).toBe('delivered')
    expect(notices).toMatchObject([{ level: 'info', detail: { files: secret.path('caFile') } }])
    server.setSecureContext(OLD)
    expect(await fresh()).not.toBe('delivered')
  })

  it('new connections show the new certificate, and begin a TLS session of their own', async () => {
    const pair = (from: typeof OLD) => ({ caFile: OLD.ca, certFile: from.cert, keyFile: from.key })
    const { secret, sockets, fresh, pass } = await stage(pair(OLD), ['caFile', 'certFile', 'keyFile'])
    await fresh()
    await fresh()
    secret.rotate(pair(NEW))
    pass(10_000)
    await fresh()
    expect(sockets.map(socket => socket.isSessionReused())).toEqual([false, true, false])
    const shown = [sockets[0], sockets[2]].map(socket => socket?.getPeerX509Certificate()?.subject)
    expect(new Set(shown).size).toBe(2)
  })

  it.each([
    ['half a certificate', { caFile: OLD.ca.subarray(0, 200) }, /caFile: there is no PEM certificate in it/],
    ['no certificate', { caFile: 'garbage' }, /caFile: there is no PEM certificate in it/],
    ['an empty file', { caFile: '' }, /caFile: there is no PEM certificate in it/],
    [
      'a certificate that is none',
      { caFile: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' },
      /caFile: error/,
    ],
    ['a missing file', {}, /ENOENT.*caFile/],
  ])('to %s, the last good ones stay, and one warning says which file and why', async (_what, files, text) => {
    const { secret, fresh, pass, notices } = await stage({ caFile: OLD.ca }, ['caFile'])
    expect(await fresh()).toBe('delivered')
    secret.rotate(files)
    for (let n = 0; n < 3; n++) {
      pass(10_000)
      expect(await fresh()).toBe('delivered')
    }
    expect(notices.map(notice => `${notice.level} ${notice.message}`)).toEqual([
      'warn tls files cannot be used, the last good ones stay',
    ])
    expect(notices[0]?.detail?.['reason']).toMatch(text)
  })

  it('to a key of another certificate, the pair that fits stays until both fit again', async () => {
    const { secret, sockets, fresh, pass, notices } = await stage(
      { certFile: OLD.cert, keyFile: OLD.key, caFile: OLD.ca },
      ['caFile', 'certFile', 'keyFile'],
    )
    expect(await fresh()).toBe('delivered')
    secret.rotate({ caFile: OLD.ca, certFile: NEW.cert, keyFile: OLD.key })
    pass(10_000)
    expect(await fresh()).toBe('delivered')
    expect(notices).toHaveLength(1)
    expect(notices[0]?.detail?.['reason']).toMatch(/certFile.*keyFile: .*mismatch/)
    secret.rotate({ caFile: OLD.ca, certFile: NEW.cert, keyFile: NEW.key })
    pass(10_000)
    expect(await fresh()).toBe('delivered')
    const shown = sockets.map(socket => socket.getPeerX509Certificate()?.subject)
    expect(shown[0]).toBe(shown[1])
    expect(shown[2]).not.toBe(shown[1])
  })

  it('from unusable to usable, calls begin to work', async () => {
    const { secret, fresh, pass, notices } = await stage({ caFile: 'not yet' }, ['caFile'])
    expect(await fresh()).toBe('TLS_FILES')
    secret.rotate({ caFile: OLD.ca })
    pass(10_000)
    expect(await fresh()).toBe('delivered')
    expect(notices.map(notice => notice.level)).toEqual(['warn', 'info'])
  })
})

describe('files that do not rotate', () => {
  it('are read once for all upstreams that name them', () => {
    const secret = new RotatingSecret({ caFile: OLD.ca })
    onClear(async () => secret.dispose())
    const contexts = new TlsContexts(systemClock, () => {})
    const tls = { caFile: secret.path('caFile') }
    expect(contexts.of(tls).context()).toBe(contexts.of({ ...tls, serverName: 'x.test' }).context())
  })

  it('are not looked at for every connection', () => {
    const secret = new RotatingSecret({ caFile: OLD.ca })
    onClear(async () => secret.dispose())
    const files = new TlsContexts({ ...systemClock, nowMs: () => 0 }, () => {}).of({ caFile: secret.path('caFile') })
    const context = files.context()
    secret.rotate({ caFile: NEW.ca })
    expect(files.context()).toBe(context)
  })

  it('but at once after a reload that somebody asked for', () => {
    const secret = new RotatingSecret({ caFile: OLD.ca })
    onClear(async () => secret.dispose())
    const contexts = new TlsContexts({ ...systemClock, nowMs: () => 0 }, () => {})
    const files = contexts.of({ caFile: secret.path('caFile') })
    const context = files.context()
    secret.rotate({ caFile: NEW.ca })
    contexts.lookAgain()
    expect(files.context()).not.toBe(context)
  })
})

describe('the status of tls files', () => {
  const pair = (from: typeof OLD) => ({ caFile: OLD.ca, certFile: from.cert, keyFile: from.key })
  const endOf = ({ cert }: typeof OLD) => new Date(new X509Certificate(cert).validTo).toISOString()

  it('tells when those in force were read and when the client certificate ends, also beside ones that are unusable', async () => {
    const { secret, fresh, pass, status } = await stage(pair(OLD), ['caFile', 'certFile', 'keyFile'])
    expect(status()).toEqual({ loadedAt: null, certificateExpiresAt: null })
    await fresh()
    const first = status()
    expect(first?.certificateExpiresAt).toBe(endOf(OLD))
    expect(Math.abs(Date.parse(first?.loadedAt ?? '') - Date.now())).toBeLessThan(60_000)
    secret.rotate({ ...pair(OLD), keyFile: NEW.key })
    pass(600_000)
    await fresh()
    expect(status()).toEqual(first)
    secret.rotate(pair(NEW))
    pass(600_000)
    await fresh()
    expect(status()?.certificateExpiresAt).toBe(endOf(NEW))
    expect(Date.parse(status()?.loadedAt ?? '') - Date.parse(first?.loadedAt ?? '')).toBeGreaterThan(1_000_000)
  })

  it('is forgotten with the upstream, files and all, and an edit of something else forgets nothing', async () => {
    const { tls, transport, upstream, fresh, status } = await stage(pair(OLD), ['caFile', 'certFile', 'keyFile'])
    await fresh()
    const before = status()
    transport.reconcile(snapshotOf({ ...upstream, pool: { ...upstream.pool, maxConnections: 7 } }))
    expect([tls.size, status()]).toEqual([1, before])
    for (let n = 0; n < 10; n++) {
      transport.reconcile(snapshotOf({ ...upstream, tls: { caFile: `/nowhere/${n}.pem` } }))
    }
    expect([tls.size, status()]).toEqual([1, { loadedAt: null, certificateExpiresAt: null }])
    transport.reconcile(snapshotOf())
    expect(tls.size).toBe(0)
  })
})
