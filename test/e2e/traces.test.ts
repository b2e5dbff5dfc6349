import { createServer } from 'node:net'
import { describe, expect } from 'vitest'
import { rawCall } from './harness/client.js'
import { OtlpReceiver, type Span } from './harness/otlp-receiver.js'
import { ample, type Document, quickRetry, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE}-${PARENT}-01`
const SERVER = 2
const CLIENT = 3

interface Traced {
  readonly sidecar: Sidecar
  readonly collector: OtlpReceiver
}

async function traced(stage: Stage, policies: readonly Document[], env: Record<string, string> = {}): Promise<Traced> {
  const collector = await OtlpReceiver.start()
  stage.later(() => collector.close())
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50', ...env }
  return { collector, sidecar: await stage.sidecar(policies, ['--drain-period', '5s'], { env: all }) }
}

const byKind = (spans: readonly Span[], kind: number): Span[] =>
  spans.filter(span => span.kind === kind).sort((one, other) => Number(one.startNs - other.startNs))

describe.concurrent('traces over OTLP', () => {
  test('are one span a request and one an attempt below it, whose id the upstream is sent', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 }, { instead: 'reset' }, { body: 'fine' })
    const spec = { retry: quickRetry(), budget: ample, routes: [{ name: 'orders', match: { path: '/v1/orders' } }] }
    const { sidecar, collector } = await traced(stage, [upstreamDoc('shop', upstream.url, spec)])
    const headers = { traceparent: SAMPLED, tracestate: 'vendor=opaque' }
    const answer = await sidecar.call('/shop/v1/orders?token=secret', { headers })
    expect(answer.status).toBe(200)
    const spans = await collector.trace(TRACE, 4)
    const [request, ...rest] = byKind(spans, SERVER)
    const attempts = byKind(spans, CLIENT)
    expect([rest.length, attempts.length, request?.name, request?.parentSpanId]).toEqual([0, 3, 'GET', PARENT])
    expect(request?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'url.path': '/shop/v1/orders',
      'http.response.status_code': 200,
      'forbear.upstream': 'shop',
      'forbear.route': 'orders',
      'forbear.outcome': 'delivered',
      'forbear.policy.generation': 1,
      'forbear.attempts': 3,
    })
    expect(request?.events.map(({ name, attributes }) => [name, attributes['forbear.wait.place']])).toEqual([
      ['forbear.wait', 'backoff'],
      ['forbear.wait', 'backoff'],
    ])
    expect(attempts.map(({ attributes: of }) => [of['http.request.resend_count'], of['error.type']])).toEqual([
      [undefined, '503'],
      [1, 'reset'],
      [2, undefined],
    ])
    expect(attempts.map(({ status }) => status)).toEqual([2, 2, 0])
    expect(attempts[0]?.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'url.full': `${upstream.url}/v1/orders`,
      'http.response.status_code': 503,
      'forbear.attempt.result': 'response',
    })
    for (const [at, span] of attempts.entries()) {
      expect(span.parentSpanId).toBe(request?.spanId)
      expect(upstream.nth(at + 1).headers['traceparent']).toBe(`00-${TRACE}-${span.spanId}-01`)
      expect(upstream.nth(at + 1).headers['tracestate']).toBe('vendor=opaque')
      expect(span.startNs >= (request?.startNs ?? 0n) - 2_000_000n && span.endNs >= span.startNs).toBe(true)
      expect(span.endNs <= (request?.endNs ?? 0n) + 2_000_000n).toBe(true)
    }
    expect(JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toMatch(
      /secret|opaque/,
    )
    expect((await sidecar.accessLine('/shop/v1/orders'))['traceId']).toBe(TRACE)
  })

  test('link a hedge to the attempt that it runs beside, and the loser is no error', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ delayMs: 10_000 }, { body: 'good' })
    const { sidecar, collector } = await traced(stage, [
      upstreamDoc('u', upstream.url, { hedge: { after: '50ms' }, budget: ample }),
    ])
    expect((await sidecar.call('/u/x', { headers: { traceparent: SAMPLED } })).text).toBe('good')
    const [first, hedge] = byKind(await collector.trace(TRACE, 3), CLIENT)
    expect(hedge?.links).toEqual([expect.objectContaining({ traceId: TRACE, spanId: first?.spanId })])
    expect([hedge?.attributes['forbear.attempt.hedge'], hedge?.attributes['forbear.attempt.result']]).toEqual([
      true,
      'response',
    ])
    expect([first?.links.length, first?.attributes['forbear.attempt.result'], first?.status]).toEqual([0, 'lost', 0])
  })

  test('begin anew where the app sends no traceparent or a bad one, of which nothing is passed on', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)])
    const bad = [
      `00-${'0'.repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `ff-${TRACE}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01-more`,
      'nonsense',
      '',
    ]
    for (const [at, traceparent] of bad.entries()) {
      await sidecar.call(`/u/${at}`, { headers: { traceparent, tracestate: 'a=b' } })
      const sent = upstream.nth(at + 1).headers
      expect(sent['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
      expect(sent['traceparent']).not.toContain(TRACE)
      expect(sent['tracestate'] ?? '').toBe('')
    }
    await sidecar.call('/u/none')
    await until('all are exported', () => byKind(collector.spans, SERVER).length === bad.length + 1)
    const requests = byKind(collector.spans, SERVER)
    expect(requests.every(span => !span.parentSpanId)).toBe(true)
    expect(new Set(requests.map(span => span.traceId)).size).toBe(bad.length + 1)
    // A root span's id is the one thing that leads from the log to the trace.
    const line = await sidecar.accessLine('/u/none')
    expect(requests.map(span => span.traceId)).toContain(line['traceId'])
  })

  test('follow the decision of the app: what it does not sample is passed on so and not exported', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)])
    await sidecar.call('/u/quiet', { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } })
    expect(upstream.nth(1).headers['traceparent']).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
    await sidecar.call('/u/loud')
    await until('the sampled one is exported', () => collector.spans.length === 2)
    expect(collector.spans.map(span => span.traceId)).not.toContain(TRACE)
  })

  test('are sampled by OTEL_TRACES_SAMPLER, named by OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)], {
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      OTEL_SERVICE_NAME: 'checkout-sidecar',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,k8s.pod.name=pod-1',
    })
    await sidecar.call('/u/root')
    expect(upstream.nth(1).headers['traceparent']).toMatch(/-00$/)
    await sidecar.call('/u/child', { headers: { traceparent: SAMPLED } })
    const [span] = await collector.trace(TRACE, 2)
    expect(collector.spans.length).toBe(2)
    expect(span?.resource).toMatchObject({
      'service.name': 'checkout-sidecar',
      'deployment.environment.name': 'test',
      'k8s.pod.name': 'pod-1',
      'telemetry.sdk.name': 'opentelemetry',
    })
  })

  test('show what was refused without an attempt, and what the app gave up, as what they are', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)])
    await sidecar.call('/nowhere', { headers: { traceparent: SAMPLED } })
    const [refused] = await collector.trace(TRACE, 1)
    expect([refused?.attributes['forbear.outcome'], refused?.status]).toEqual(['no-route', 0])
    expect(refused?.attributes['http.response.status_code']).toBe(404)
    const app = new AbortController()
    const left = sidecar.call('/u/x', { signal: app.signal }).catch(() => null)
    await until('the upstream is called', () => upstream.hits === 1)
    app.abort()
    await left
    const spans = () => collector.spans.filter(span => span.traceId !== TRACE)
    await until('both spans', () => spans().length === 2)
    expect(spans().map(span => span.status)).toEqual([0, 0])
    expect(byKind(spans(), SERVER)[0]?.attributes['http.response.status_code']).toBeUndefined()
    expect(byKind(spans(), CLIENT)[0]?.attributes['forbear.attempt.result']).toBe('aborted')
  })

  test('show the opening of a WebSocket and of a tunnel, whose upstream is told of the former', async ({ stage }) => {
    const heads: string[] = []
    const raw = await stage.rawUpstream((socket, head) => {
      heads.push(head)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    })
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', raw.url)])
    const fields = `Host: a\r\ntraceparent: ${SAMPLED}`
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw=='
    await rawCall(sidecar.port, `GET /u/socket?secret HTTP/1.1\r\n${fields}\r\n${upgrade}\r\n\r\n`, 3_000)
    const [opening] = byKind(await collector.trace(TRACE, 2), CLIENT)
    expect(heads[0]).toContain(`00-${TRACE}-${opening?.spanId}-01`)
    expect(opening?.attributes).toMatchObject({ 'http.response.status_code': 101, 'url.full': `${raw.url}/socket` })
    const authority = raw.url.slice('http://'.length)
    await rawCall(sidecar.port, `CONNECT ${authority} HTTP/1.1\r\n${fields}\r\n\r\n`, 3_000)
    const [, tunnel] = byKind(await collector.trace(TRACE, 4), CLIENT)
    expect(tunnel?.name).toBe('CONNECT')
    expect(tunnel?.attributes).toMatchObject({ 'server.port': raw.port, 'forbear.attempt.result': 'response' })
    expect(tunnel?.attributes).not.toHaveProperty('url.full')
    expect(sidecar.errorLines()).toEqual([])
  })

  test('of the last calls are flushed when the sidecar ends', async ({ stage }) => {
    const upstream = await stage.upstream()
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)], {
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    })
    await sidecar.call('/u/x', { headers: { traceparent: SAMPLED } })
    sidecar.signal('SIGINT')
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
    expect(collector.spans.length).toBe(2)
    expect(sidecar.stderr).toBe('')
  })

  test('go out with the headers of OTEL_EXPORTER_OTLP_HEADERS, which no log shows, refused or not', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)], {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20tr4ce-s3cret,x-tenant=t3nant-s3cret',
    })
    collector.reaction = { status: 401 }
    await sidecar.call('/u/x')
    await until('the refusal is told', () => sidecar.logs.some(line => /do not reach/.test(String(line['msg']))))
    expect(collector.exports[0]?.headers).toMatchObject({ authorization: 'Bearer tr4ce-s3cret' })
    expect(collector.exports[0]?.path).toBe('/v1/traces')
    await sidecar.call('/u/y')
    await until(
      'a second refusal',
      async () => (await sidecar.metrics()).sum('forbear_trace_spans_total', { result: 'failed' }) === 4,
    )
    collector.reaction = { status: 200 }
    await sidecar.call('/u/z')
    await until('it is told once that they arrive again', () =>
      sidecar.logs.some(line => /reach the collector again/.test(String(line['msg']))),
    )
    const told = sidecar.logs.filter(line => /do not reach/.test(String(line['msg'])))
    expect(told).toEqual([expect.objectContaining({ level: 40, detail: { why: '401' } })])
    const status = (await sidecar.status()) as unknown as { traces: unknown }
    expect(status.traces).toEqual({ exported: 2, failed: 4, dropped: 0 })
    expect(sidecar.output).not.toMatch(/s3cret/)
  })
})

describe.concurrent('a collector that fails', () => {
  test('by not answering costs no request anything, holds no more than the queue and no exit for long', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const { sidecar, collector } = await traced(stage, [upstreamDoc('u', upstream.url)], {
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    })
    collector.reaction = 'hang'
    for (let n = 0; n < 40; n++) expect((await sidecar.call(`/u/${n}`)).status).toBe(200)
    const metrics = await sidecar.metrics()
    // Of 80 spans one batch, full or not, is on its way for good, and one queue waits.
    const dropped = metrics.sum('forbear_trace_spans_total', { result: 'dropped' })
    expect([dropped >= 60, dropped < 70]).toEqual([true, true])
    expect(sidecar.logs.filter(line => /spans are dropped/.test(String(line['msg']))).length).toBe(1)
    sidecar.signal('SIGINT')
    // The exporter alone would try for 10 s.
    expect((await sidecar.exitWithin(9_000)).code).toBe(0)
    expect(sidecar.stderr).toBe('')
  })

  test('by not being there is told once, and calls go on', async ({ stage }) => {
    const upstream = await stage.upstream()
    const env = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://user:s3cret@127.0.0.1:${await freePort()}/v1/traces`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    }
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], [], { env })
    await sidecar.call('/u/x')
    const told = () => sidecar.logs.filter(line => /do not reach/.test(String(line['msg'])))
    await until('it is told', () => told().length === 1)
    await sidecar.call('/u/y')
    await until(
      'both are lost',
      async () => (await sidecar.metrics()).sum('forbear_trace_spans_total', { result: 'failed' }) === 4,
    )
    expect(told()).toEqual([expect.objectContaining({ detail: { why: 'ECONNREFUSED' } })])
    expect(sidecar.output).not.toContain('s3cret')
  })

  test('by speaking no HTTP harms nothing', async ({ stage }) => {
    const upstream = await stage.upstream()
    const server = createServer(socket => socket.on('error', () => {}).end('garbage\r\n\r\n'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    stage.later(async () => server.close())
    const { port } = server.address() as { port: number }
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '20' }
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], [], { env })
    expect((await sidecar.call('/u/x')).status).toBe(200)
    await until('the loss is told', () => sidecar.logs.some(line => /do not reach/.test(String(line['msg']))))
    expect((await sidecar.call('/u/y')).status).toBe(200)
  })
})

describe.concurrent('without a collector', () => {
  const off: Record<string, Record<string, string>> = {
    'that is named': {},
    'whose name is empty': { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    'since OTEL_SDK_DISABLED is true': { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
    'since OTEL_TRACES_EXPORTER is none': {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_TRACES_EXPORTER: 'none',
    },
  }
  for (const [why, env] of Object.entries(off)) {
    test(`${why}, trace fields pass byte for byte and nothing of OpenTelemetry is loaded`, async ({ stage }) => {
      const upstream = await stage.upstream()
      const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], [], { env, probed: true })
      const sent = ['TraceParent', 'not even one', 'tracestate', 'a=b', 'tracestate', 'c=d']
      await sidecar.call('/u/x', { headers: ['Host', 'app', ...sent] })
      expect(upstream.nth(1).rawHeaders.join('|')).toContain(sent.join('|'))
      await sidecar.call('/u/y', { headers: { traceparent: SAMPLED } })
      expect(upstream.nth(2).headers['traceparent']).toBe(SAMPLED)
      const modules = await sidecar.loadedModules()
      expect(modules).toContainEqual(expect.stringContaining('/pino/'))
      expect(modules.filter(file => file.includes('@opentelemetry'))).toEqual([])
      expect((await sidecar.metrics()).has('forbear_trace_spans_total')).toBe(false)
    })
  }

  test('that can be used, the sidecar says why and runs', async ({ stage }) => {
    const upstream = await stage.upstream()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317 s3cret' }
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], [], { env })
    expect((await sidecar.call('/u/x')).status).toBe(200)
    expect(sidecar.errorLines()[0]?.['msg']).toMatch(/not exported: the endpoint is no http:\/\/ or https:\/\/ URL/)
    expect(sidecar.output).not.toContain('s3cret')
  })
})
