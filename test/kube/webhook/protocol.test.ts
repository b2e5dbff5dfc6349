/** Whatever is sent to the built command, be it from no API server. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MOST_BODY_BYTES } from '../../../src/kube/webhook/review-body.js'
import { admit, NAMESPACE, post, reviewOf, SERVICE, type WebhookConfig } from './support/api-server.js'
import { pod } from './support/pods.js'
import { newCertificates, WebhookProcess } from './support/webhook-process.js'

let webhook: WebhookProcess
let mutate: WebhookConfig

beforeAll(async () => {
  webhook = await WebhookProcess.start()
  mutate = webhook.at('/mutate')
})
afterAll(() => webhook.stop())

const REVIEW = reviewOf({ object: pod() })
const text = (value: unknown) => JSON.stringify(value)

describe('a request that is no review', () => {
  it.each([
    ['of another type', text(REVIEW), { contentType: 'text/plain' }, 415, 'application/json'],
    ['of no type', text(REVIEW), { contentType: null }, 415, 'application/json'],
    ['without a body', '', {}, 400, 'no body'],
    ['that is not JSON', '{"kind":', {}, 400, 'not JSON'],
    ['that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 400, 'not JSON'],
    ['that is a list', '[]', {}, 400, 'AdmissionReview object'],
    ['that is null', 'null', {}, 400, 'AdmissionReview object'],
    ['of v1beta1', text({ ...REVIEW, apiVersion: 'admission.k8s.io/v1beta1' }), {}, 400, 'admission.k8s.io/v1;'],
    ['of another kind', text({ ...REVIEW, kind: 'Pod' }), {}, 400, 'AdmissionReview'],
    ['without a request', text({ ...REVIEW, request: null }), {}, 400, 'no request'],
    ['without a uid', text({ ...REVIEW, request: { ...REVIEW.request, uid: '' } }), {}, 400, 'no uid'],
    ['by GET', '', { method: 'GET' }, 405, 'POST'],
    ['too large to be read', Buffer.alloc(MOST_BODY_BYTES + 1, 0x20), {}, 413, `${MOST_BODY_BYTES} bytes`],
  ] as const)('%s gets its status and one line that says why', async (_what, body, options, status, part) => {
    const answer = await post(mutate, body, options)
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(part)
    expect(answer.text.trimEnd()).not.toContain('\n')
  })

  it('to another path gets 404', async () => {
    expect((await post({ ...mutate, path: '/metrics' }, text(REVIEW))).status).toBe(404)
  })

  it('takes a charset beside the type', async () => {
    expect((await post(mutate, text(REVIEW), { contentType: 'application/json; charset=utf-8' })).status).toBe(200)
  })
})

describe('a review', () => {
  it('of 3 MB, which is as large as an object may be, is answered', async () => {
    const object = pod({}, { annotations: { 'forbear.dev/policy-configmap': 'p', big: 'x'.repeat(3_000_000) } })
    expect((await admit(mutate, { object })).patch).not.toEqual([])
  })

  it('is spoken over HTTP/1.1, also where the client would rather have HTTP/2', async () => {
    const socket = connect({
      port: webhook.port,
      ca: webhook.caBundle,
      servername: `${SERVICE}.${NAMESPACE}.svc`,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    await once(socket, 'secureConnect')
    expect([socket.alpnProtocol, socket.authorized]).toEqual(['http/1.1', true])
    socket.destroy()
  })

  it('whose client leaves in the middle of it leaves nothing behind', async () => {
    const body = text(REVIEW)
    const socket = await opened()
    socket.write(
      `POST /mutate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    )
    socket.write(body.slice(0, 20))
    socket.destroy()
    expect((await admit(mutate, { object: pod() })).allowed).toBe(true)
  })
})

describe('no byte', () => {
  it('of a body ends the process or draws a 5xx', async () => {
    const seed = text(REVIEW)
    const mangled = fc
      .tuple(fc.nat(seed.length), fc.nat(40), fc.uint8Array({ maxLength: 40 }))
      .map(([at, cut, bytes]) =>
        Buffer.concat([Buffer.from(seed.slice(0, at)), bytes, Buffer.from(seed.slice(at + cut))]),
      )
    const object = fc.oneof(fc.jsonValue(), fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue() }))
    const odd = object.map(value => Buffer.from(text({ ...REVIEW, request: { ...REVIEW.request, object: value } })))
    const noise = fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes))
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(mangled, odd, noise),
        fc.constantFrom('/mutate', '/validate-policy'),
        async (body, path) => {
          const answer = await post({ ...webhook.at('/mutate'), path, agent }, body)
          expect([200, 400]).toContain(answer.status)
          if (answer.status === 200) expect(JSON.parse(answer.text).response.allowed).toBe(true)
        },
      ),
      { numRuns: 400 },
    )
    agent.destroy()
    expect(webhook.child.exitCode).toBeNull()
  })

  it('of nesting does', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const body = text(REVIEW).replace('"containers":[', `"containers":[${deep},`)
    const answer = await post(mutate, body)
    expect(JSON.parse(answer.text).response).toMatchObject({ allowed: true, warnings: [expect.any(String)] })
  })

  it('before or instead of HTTP does', async () => {
    for (const bytes of [
      randomBytes(300),
      Buffer.from('POST /mutate HTTP/1.1\r\n\r\n\0'),
      Buffer.from('PRI * HTTP/2.0\r\n\r\n'),
    ]) {
      const socket = await opened()
      // A reset is an answer, too.
      const closed = new Promise(resolve => socket.once('close', resolve).on('error', () => undefined))
      socket.resume().end(bytes)
      await closed
    }
    expect((await admit(mutate, { object: pod() })).allowed).toBe(true)
  })
})

describe('200 reviews at once', () => {
  it('are all answered, on connections of their own and on kept ones', async () => {
    for (const keepAlive of [false, true]) {
      const agent = new Agent({ keepAlive, maxSockets: 200, ALPNProtocols: ['http/1.1'] })
      const config = { ...mutate, agent }
      if (keepAlive) await Promise.all(Array.from({ length: 200 }, () => admit(config, { object: pod() })))
      const took = await Promise.all(Array.from({ length: 200 }, () => timed(config)))
      agent.destroy()
      const sorted = took.toSorted((a, b) => a - b)
      const at = (share: number) => `${sorted[Math.ceil(share * 200) - 1]?.toFixed(1)} ms`
      console.log(
        `200 at once, ${keepAlive ? 'kept' : 'new'} connections: p50 ${at(0.5)}, p99 ${at(0.99)}, both sides on one host`,
      )
    }
    const sum = await webhook.metric('forbear_webhook_review_duration_seconds_sum{webhook="mutate"}')
    const count = await webhook.metric('forbear_webhook_review_duration_seconds_count{webhook="mutate"}')
    const below = await webhook.metric('forbear_webhook_review_duration_seconds_bucket{le="0.05",webhook="mutate"}')
    console.log(
      `of that the webhook's own: mean ${((sum / count) * 1000).toFixed(2)} ms, ${below} of ${count} reviews within 50 ms`,
    )
    expect(count).toBeGreaterThan(600)
  })
})

describe('metrics', () => {
  it('tell reviews by result and reason, what was no review, and when the certificate ends', async () => {
    const before = await webhook.metric(
      'forbear_webhook_reviews_total{webhook="mutate",result="patched",reason="injected"}',
    )
    await admit(mutate, { object: pod() })
    expect(
      await webhook.metric('forbear_webhook_reviews_total{webhook="mutate",result="patched",reason="injected"}'),
    ).toBe(before + 1)
    expect(await webhook.metric('forbear_webhook_refused_requests_total{status="415"}')).toBeGreaterThan(0)
    const days =
      ((await webhook.metric('forbear_webhook_certificate_expiry_timestamp_seconds')) - Date.now() / 1000) / 86_400
    expect(days).toBeGreaterThan(29)
    expect(days).toBeLessThan(31)
  })
})

describe('an API server that trusts another authority, or asks for another name', () => {
  it.each([
    [
      'caBundle of another authority',
      async () => ({ caBundle: (await newCertificates())['ca.crt'] }),
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['another service', async () => ({ serverName: 'other.forbear-system.svc' }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['another namespace', async () => ({ serverName: `${SERVICE}.default.svc` }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s: no review is sent', async (_what, other, code) => {
    await expect(post({ ...mutate, ...(await other()) }, text(REVIEW))).rejects.toMatchObject({ code })
  })
})

async function opened(): Promise<TLSSocket> {
  const socket = connect({ port: webhook.port, ca: webhook.caBundle, servername: `${SERVICE}.${NAMESPACE}.svc` })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

async function timed(config: WebhookConfig): Promise<number> {
  const startMs = performance.now()
  await admit(config, { object: pod() })
  return performance.now() - startMs
}
