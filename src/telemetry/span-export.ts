/** Hands spans to a collector through OpenTelemetry's packages, which are loaded here and only when traces are wanted. */
import { createRequire } from 'node:module'
import type { TraceParent } from '../core/trace-context.js'
import { type CountedEvents, counted } from './counted-exporter.js'
import { spanReader } from './readable-span.js'
import type { SpanData } from './trace-spans.js'

export interface SpanExport {
  newTraceId(): string
  newSpanId(): string
  /** Whether a request is to be recorded that comes from `parent`, or begins this trace. */
  samples(traceId: string, parent: TraceParent | null): boolean
  add(span: SpanData): void
  /** Sends what there is; gives up after `patienceMs`. Never rejects. */
  close(patienceMs: number): Promise<void>
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface ExportEvents extends CountedEvents {
  /** The queue is full. */
  onDropped(): void
}

export type TraceSdk = typeof import('@opentelemetry/sdk-trace-base')
export type TraceApi = typeof import('@opentelemetry/api')
export type Resources = typeof import('@opentelemetry/resources')

/** Where to, with what headers and how often: OpenTelemetry's packages read that of the process's environment themselves. */
export function createSpanExport(environment: Environment, events: ExportEvents): SpanExport {
  const api = createRequire(import.meta.url)('@opentelemetry/api') as TraceApi
  const sdk = createRequire(import.meta.url)('@opentelemetry/sdk-trace-base') as TraceSdk
  const resources = createRequire(import.meta.url)('@opentelemetry/resources') as Resources
  const { OTLPTraceExporter } = createRequire(import.meta.url)('@opentelemetry/exporter-trace-otlp-http') as Otlp
  const ids = new sdk.RandomIdGenerator()
  const sampler = samplerOf(sdk, environment)
  const maxQueueSize = maxQueued(environment)
  const exporter = counted(new OTLPTraceExporter(), events)
  const processor = new sdk.BatchSpanProcessor(exporter, { maxQueueSize })
  const read = spanReader(api, resources)
  let added = 0
  return {
    newTraceId: () => ids.generateTraceId(),
    newSpanId: () => ids.generateSpanId(),
    samples(traceId, parent) {
      const remote = parent && { traceId: parent.traceId, spanId: parent.spanId, traceFlags: parent.flags & 1 }
      const context =
        remote === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, { ...remote, isRemote: true })
      const { decision } = sampler.shouldSample(context, traceId, 'HTTP', api.SpanKind.SERVER, {}, [])
      return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED
    },
    add(span) {
      // The processor would drop it too, and tell nobody.
      if (added - exporter.taken >= maxQueueSize) return events.onDropped()
      added += 1
      processor.onEnd(read(span))
    },
    async close(patienceMs) {
      let timer: NodeJS.Timeout | undefined
      const patience = new Promise(resolve => {
        timer = setTimeout(resolve, patienceMs)
      })
      await Promise.race([processor.shutdown().catch(() => undefined), patience])
      clearTimeout(timer)
    },
  }
}

type Otlp = typeof import('@opentelemetry/exporter-trace-otlp-http')

/** Spans that wait for their export; name and default are OpenTelemetry's. */
function maxQueued(environment: Environment): number {
  const text = environment['OTEL_BSP_MAX_QUEUE_SIZE'] ?? ''
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 2048
}

/** By OTEL_TRACES_SAMPLER; what is unknown counts as the default. */
function samplerOf(sdk: TraceSdk, environment: Environment) {
  const name = environment['OTEL_TRACES_SAMPLER'] ?? ''
  const rootName = name.replace(/^parentbased_/, '')
  const root =
    rootName === 'always_off'
      ? new sdk.AlwaysOffSampler()
      : rootName === 'traceidratio'
        ? new sdk.TraceIdRatioBasedSampler(ratioOf(environment['OTEL_TRACES_SAMPLER_ARG']))
        : new sdk.AlwaysOnSampler()
  return ['always_on', 'always_off', 'traceidratio'].includes(name) ? root : new sdk.ParentBasedSampler({ root })
}

function ratioOf(text: string | undefined): number {
  const ratio = Number(text?.trim() || Number.NaN)
  return ratio >= 0 && ratio <= 1 ? ratio : 1
}
