/** What is remembered of one request for its trace. Made only where traces are exported. */
import { formatTraceParent, SAMPLED, type TraceParent } from './trace-context.js'

/** Begins the trace of each request; given by whoever exports them. */
export interface Tracing {
  /** @param headers the app's, flat */
  begin(headers: readonly string[]): RequestTrace
}

/** One attempt. Times are monotonic, ms. */
export interface AttemptTrace {
  readonly spanId: string
  /** 1-based; of a poll, in its round. */
  readonly number: number
  readonly hedge: boolean
  readonly startMs: number
  /** Spans of the attempts beside which it was sent. */
  readonly beside: readonly string[]
  end: { readonly atMs: number; readonly status: number | null; readonly result: string } | null
}

/** One stay in a waiting room. Times are monotonic, ms. */
export interface WaitTrace {
  readonly place: string
  readonly startMs: number
  readonly endMs: number
}

/** A poll may make thousands of attempts; so many are kept of each request. */
const MAX_KEPT = 128

export class RequestTrace {
  readonly attempts: AttemptTrace[] = []
  readonly waits: WaitTrace[] = []
  /** Attempts and waits beyond what is kept. */
  left = 0
  readonly #newSpanId: () => string

  constructor(
    /** Of the request itself. */
    readonly context: TraceParent,
    /** The app's span; `null` = the trace begins here. */
    readonly parentSpanId: string | null,
    /** What the app sent was not valid: its `tracestate` means nothing. */
    readonly dropsState: boolean,
    newSpanId: () => string,
  ) {
    this.#newSpanId = newSpanId
  }

  get sampled(): boolean {
    return (this.context.flags & SAMPLED) !== 0
  }

  attempt(number: number, hedge: boolean, startMs: number): AttemptTrace {
    const beside = hedge ? this.attempts.filter(each => each.end === null).map(each => each.spanId) : []
    const attempt: AttemptTrace = { spanId: this.#newSpanId(), number, hedge, startMs, beside, end: null }
    if (!this.sampled) return attempt
    if (this.attempts.length < MAX_KEPT) this.attempts.push(attempt)
    else this.left += 1
    return attempt
  }

  waited(place: string, startMs: number, endMs: number): void {
    if (!this.sampled) return
    if (this.waits.length < MAX_KEPT) this.waits.push({ place, startMs, endMs })
    else this.left += 1
  }

  /** Fields that tell the upstream which span called it. */
  fields({ spanId }: AttemptTrace): string[] {
    const fields = ['traceparent', formatTraceParent({ ...this.context, spanId })]
    return this.dropsState ? [...fields, 'tracestate', ''] : fields
  }
}
