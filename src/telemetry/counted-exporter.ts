import type { SpanExporter } from '@opentelemetry/sdk-trace-base'

export interface CountedEvents {
  onSent(spans: number): void
  /** `why`: a code such as ECONNREFUSED or 401, and no text of the other side. */
  onFailed(spans: number, why: string): void
}

export interface CountedExporter extends SpanExporter {
  /** Spans that have left the queue. */
  readonly taken: number
}

/** The same exporter, and what becomes of its spans is told. */
export function counted(exporter: SpanExporter, events: CountedEvents): CountedExporter {
  let taken = 0
  return {
    get taken() {
      return taken
    },
    export(spans, done) {
      taken += spans.length
      exporter.export(spans, result => {
        // 0 = success
        if (result.code === 0) events.onSent(spans.length)
        else events.onFailed(spans.length, codeOf(result.error))
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}

/** A message might repeat what was sent, headers included. */
function codeOf(error: Error | undefined): string {
  const code: unknown = error !== undefined && 'code' in error ? error.code : undefined
  return code === undefined || code === null ? (error?.name ?? 'unknown') : String(code)
}
