import type { EventSink, ForbearEvent } from './events.js'

/**
 * One sink made of several. A sink that throws harms neither the request nor the other sinks, which are told of its
 * first failure.
 */
export function fanOut(sinks: readonly EventSink[]): EventSink {
  const failed = new Set<EventSink>()

  function emit(event: ForbearEvent): void {
    for (const sink of sinks) {
      try {
        sink.emit(event)
      } catch (error) {
        if (failed.has(sink)) continue
        failed.add(sink)
        report(sink, error)
      }
    }
  }

  function report(broken: EventSink, error: unknown): void {
    const detail = { error: error instanceof Error ? error.message : String(error) }
    for (const sink of sinks) {
      if (sink === broken) continue
      try {
        sink.emit({ type: 'notice', level: 'error', message: 'a telemetry sink failed', detail })
      } catch {
        failed.add(sink)
      }
    }
  }

  return { emit }
}
