import { readFileSync } from 'node:fs'
import { Server as TlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { RotatingSecret } from '../support/rotating-secret.js'
import { problem } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const caFile = fixture('ca.pem')
const certFile = fixture('server.pem')
const keyFile = fixture('server-key.pem')
const credentials = { cert: readFileSync(certFile), key: readFileSync(keyFile) }

const payments = (target: string, tls: Record<string, string>) => [
  upstreamDoc('payments', target, { tls, retry: quickRetry({ maxAttempts: 3 }), budget: ample }),
]

async function secureUpstream(stage: Stage): Promise<Upstream> {
  const upstream = await stage.upstream({ tls: credentials })
  return upstream.plays({ body: 'fine' })
}

/** The server names that clients asked for. */
function askedNames(upstream: Upstream): string[] {
  const names: string[] = []
  if (upstream.server instanceof TlsServer) {
    upstream.server.on('secureConnection', socket =>
      names.push(String((socket as { servername?: unknown }).servername)),
    )
  }
  return names
}

describe('an https target', () => {
  test('whose certificate is signed by the CA of caFile is called', async ({ stage }) => {
    const upstream = await secureUpstream(stage)
    const sidecar = await stage.sidecar(payments(`https://localhost:${upstream.port}`, { caFile }))
    const answer = await sidecar.call('/payments/x?y=1', { method: 'POST', body: 'amount=1' })
    expect([answer.status, answer.text]).toEqual([200, 'fine'])
    expect(upstream.nth(1)).toMatchObject({ method: 'POST', url: '/x?y=1' })
    expect(upstream.nth(1).headers.host).toBe(`localhost:${upstream.port}`)
    expect(upstream.nth(1).body.toString()).toBe('amount=1')
  })

  test('is asked for serverName, and its certificate checked against that', async ({ stage }) => {
    const upstream = await secureUpstream(stage)
    const names = askedNames(upstream)
    const sidecar = await stage.sidecar(payments(upstream.url, { caFile, serverName: 'payments.test' }))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(names).toEqual(['payments.test'])
  })

  test('with an unknown CA is 502 connect after one attempt, with nothing sent', async ({ stage }) => {
    const upstream = await secureUpstream(stage)
    const sidecar = await stage.sidecar(payments(upstream.url, {}))
    const answer = await sidecar.call('/payments/x')
    expect(answer.status).toBe(502)
    expect(problem(answer)).toMatchObject({ reason: 'connect', attempts: 1 })
    expect(upstream.hits).toBe(0)
  })

  test('with a certificate for another name is 502 connect after one attempt, with nothing sent', async ({ stage }) => {
    const upstream = await secureUpstream(stage)
    const sidecar = await stage.sidecar(payments(upstream.url, { caFile, serverName: 'ledger.test' }))
    const answer = await sidecar.call('/payments/x')
    expect(answer.status).toBe(502)
    expect(problem(answer)).toMatchObject({ reason: 'connect', attempts: 1 })
    expect(upstream.hits).toBe(0)
  })

  test('that wants a client certificate gets the one of certFile and keyFile', async ({ stage }) => {
    const upstream = await stage.upstream({ tls: { ...credentials, ca: readFileSync(caFile), requestCert: true } })
    upstream.plays({ body: 'fine' })
    const sidecar = await stage.sidecar(payments(upstream.url, { caFile, certFile, keyFile }))
    expect((await sidecar.call('/payments/x')).text).toBe('fine')
  })

  test('is trusted by the new authority soon after caFile rotates, without an edit', async ({ stage }) => {
    const other = readFileSync(fileURLToPath(new URL('../fixtures/tls/ca.pem', import.meta.url)))
    const secret = new RotatingSecret({ 'ca.pem': other })
    stage.later(async () => secret.dispose())
    const upstream = await secureUpstream(stage)
    const sidecar = await stage.sidecar(payments(upstream.url, { caFile: secret.path('ca.pem') }))
    expect((await sidecar.call('/payments/x')).status).toBe(502)
    secret.rotate({ 'ca.pem': readFileSync(caFile) })
    const served = async () => (await sidecar.call('/payments/x')).status === 200
    await until('the new authority is trusted', served, 10_000)
    expect(sidecar.logs.map(line => line['msg'])).toContain('tls files read anew')
  })

  test('is retried as any other', async ({ stage }) => {
    const upstream = (await secureUpstream(stage)).plays({ status: 503 }, { instead: 'reset' }, { body: 'fine' })
    const sidecar = await stage.sidecar(payments(upstream.url, { caFile }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.headers['forbear-attempts']]).toEqual([200, '3'])
  })

  test('that does not speak TLS is 502 connect', async ({ stage }) => {
    const upstream = await stage.upstream()
    const sidecar = await stage.sidecar(payments(`https://127.0.0.1:${upstream.port}`, { caFile }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, problem(answer).reason]).toEqual([502, 'connect'])
    expect(upstream.hits).toBe(0)
  })
})
