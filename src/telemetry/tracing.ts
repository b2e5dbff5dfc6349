/** Traces: begins one for each request and exports what became of it, where the environment names a collector. */
import { RequestTrace, type Tracing } from '../core/request-trace.js'
import { SAMPLED, traceParentOf } from '../core/trace-context.js'
import type { EventSink, Notice } from './events.js'
import { createSpanExport, type Environment, type ExportEvents, type SpanExport } from './span-export.js'
import type { TraceStatus } from './status.js'
import { spansOf } from './trace-spans.js'

export interface Traces extends Tracing, EventSink {
  status(): TraceStatus
  /** Sends what there is, within `patienceMs`. */
  close(patienceMs: number): Promise<void>
}

interface TracingParts {
  readonly clock: { nowMs(): number; wallMs(): number }
  readonly tell: (notice: Notice) => void
}

/** Variables that name a collector. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const

/** `null`, and nothing is loaded, unless the environment asks for traces. */
export function createTracing(environment: Environment, parts: TracingParts): Traces | null {
  const endpoint = valueOf(environment, ENDPOINTS)
  const off = environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true'
  if (endpoint === null || off || environment['OTEL_TRACES_EXPORTER']?.trim() === 'none') return null
  try {
    const unusable = whyUnusable(endpoint, valueOf(environment, PROTOCOLS))
    if (unusable === null) return new ExportedTraces(environment, parts)
    parts.tell({ type: 'notice', level: 'error', message: `traces are not exported: ${unusable}` })
  } catch (error) {
    // The calls matter more than what is told of them.
    const detail = { error: error instanceof Error ? error.name : typeof error }
    parts.tell({
      type: 'notice',
      level: 'error',
      message: 'traces are not exported: OpenTelemetry failed to start',
      detail,
    })
  }
  return null
}

class ExportedTraces implements Traces {
  readonly #export: SpanExport
  readonly #parts: TracingParts
  readonly #counts = { exported: 0, failed: 0, dropped: 0 }
  #failing = false

  constructor(environment: Environment, parts: TracingParts) {
    this.#parts = parts
    this.#export = createSpanExport(environment, this.#events())
  }

  begin(headers: readonly string[]): RequestTrace {
    const sent = traceParentOf(headers)
    const parent = sent ?? null
    const traceId = parent?.traceId ?? this.#export.newTraceId()
    const sampled = this.#export.samples(traceId, parent) ? SAMPLED : 0
    // Whether the trace id is random is for its maker to say.
    const flags = ((parent?.flags ?? 0) & ~SAMPLED) | sampled
    const context = { traceId, spanId: this.#export.newSpanId(), flags }
    return new RequestTrace(context, parent?.spanId ?? null, sent === null, this.#export.newSpanId)
  }

  emit(event: Parameters<EventSink['emit']>[0]): void {
    if (event.type !== 'request-finished' || event.trace?.request.sampled !== true) return
    const { clock } = this.#parts
    const now = { nowMs: clock.nowMs(), wallMs: clock.wallMs() }
    for (const span of spansOf(event, event.trace, now)) this.#export.add(span)
  }

  status(): TraceStatus {
    return { ...this.#counts }
  }

  close(patienceMs: number): Promise<void> {
    return this.#export.close(patienceMs)
  }

  #events(): ExportEvents {
    const counts = this.#counts
    return {
      onSent: spans => {
        counts.exported += spans
        if (this.#failing) this.#tell('info', 'traces reach the collector again', { failed: counts.failed })
        this.#failing = false
      },
      onFailed: (spans, why) => {
        counts.failed += spans
        if (!this.#failing) this.#tell('warn', 'traces do not reach the collector: their spans are lost', { why })
        this.#failing = true
      },
      onDropped: () => {
        if (counts.dropped === 0) this.#tell('warn', 'spans are dropped: the collector does not keep up', {})
        counts.dropped += 1
      },
    }
  }

  #tell(level: Notice['level'], message: string, detail: NonNullable<Notice['detail']>): void {
    this.#parts.tell({ type: 'notice', level, message, detail })
  }
}

/** The first that is set and not empty. */
function valueOf(environment: Environment, names: readonly string[]): string | null {
  for (const name of names) {
    const value = environment[name]?.trim()
    if (value) return value
  }
  return null
}

/** The value is not repeated: it may hold a password. */
function whyUnusable(endpoint: string, protocol: string | null): string | null {
  if (protocol === 'grpc') return 'the protocol grpc is not spoken here; set OTEL_EXPORTER_OTLP_PROTOCOL=http/json'
  if (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)) return null
  return 'the endpoint is no http:// or https:// URL'
}
