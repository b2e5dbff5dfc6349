import { describe, expect, it } from 'vitest'
import type { Notice } from '../../src/telemetry/events.js'
import type { Environment } from '../../src/telemetry/span-export.js'
import { createTracing, type Traces } from '../../src/telemetry/tracing.js'

const PARENT = 'b7ad6b7169203331'
const SOMEWHERE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }

function tracing(environment: Environment): { readonly traces: Traces | null; readonly told: Notice[] } {
  const told: Notice[] = []
  const clock = { nowMs: () => 0, wallMs: () => 0 }
  return { traces: createTracing(environment, { clock, tell: notice => void told.push(notice) }), told }
}

const traceId = (n: number): string => n.toString(16).padStart(32, 'a')

/** How many of 1000 requests are sampled, with a parent of these flags or without one. */
function sampled(environment: Environment, flags: '00' | '01' | null): number {
  const { traces } = tracing({ ...SOMEWHERE, ...environment })
  const ids = Array.from({ length: 1000 }, (_, n) => traceId(n))
  const headers = (id: string) => (flags === null ? [] : ['traceparent', `00-${id}-${PARENT}-${flags}`])
  return ids.filter(id => traces?.begin(headers(id)).sampled).length
}

describe('the sampler', () => {
  it.each([
    [undefined, 1000, 1000, 0],
    ['parentbased_always_on', 1000, 1000, 0],
    ['parentbased_always_off', 0, 1000, 0],
    ['always_on', 1000, 1000, 1000],
    ['always_off', 0, 0, 0],
    ['no-such-sampler', 1000, 1000, 0],
  ])('%s: of a thousand new traces %d, of sampled ones %d, of others %d', (name, fresh, on, off) => {
    const environment = name === undefined ? {} : { OTEL_TRACES_SAMPLER: name }
    expect([null, '01', '00'].map(flags => sampled(environment, flags as '00'))).toEqual([fresh, on, off])
  })

  it('takes its ratio from OTEL_TRACES_SAMPLER_ARG, for what begins here', () => {
    const ratio = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.2' }
    expect(sampled(ratio, null)).toBeGreaterThan(100)
    expect(sampled(ratio, null)).toBeLessThan(300)
    expect([sampled(ratio, '01'), sampled(ratio, '00')]).toEqual([1000, 0])
    expect(sampled({ ...ratio, OTEL_TRACES_SAMPLER_ARG: 'much' }, null)).toBe(1000)
  })
})

describe('tracing', () => {
  it.each([
    [{}],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '  ' }],
    [{ ...SOMEWHERE, OTEL_SDK_DISABLED: 'TRUE' }],
    [{ ...SOMEWHERE, OTEL_TRACES_EXPORTER: 'none' }],
  ])('is off with %o, without a word', environment => {
    expect(tracing(environment)).toEqual({ traces: null, told: [] })
  })

  it.each([
    [{ ...SOMEWHERE, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /grpc is not spoken/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /no http:\/\/ or https:\/\/ URL/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://collector', ...SOMEWHERE }, /no http:\/\/ or https:\/\/ URL/],
  ])('is off with %o, and says why', (environment, why) => {
    const { traces, told } = tracing(environment)
    expect(traces).toBeNull()
    expect(told).toEqual([expect.objectContaining({ level: 'error', message: expect.stringMatching(why) })])
  })

  it('keeps the trace of a sound parent, its id in the flags untouched but for sampling', () => {
    const { traces } = tracing({ ...SOMEWHERE, OTEL_TRACES_SAMPLER: 'always_off' })
    const request = traces?.begin(['traceparent', `00-${traceId(1)}-${PARENT}-03`])
    expect(request?.context).toMatchObject({ traceId: traceId(1), flags: 2 })
    expect([request?.parentSpanId, request?.dropsState]).toEqual([PARENT, false])
    expect(request?.context.spanId).not.toBe(PARENT)
  })
})
