import type { HrTime, SpanContext } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { TraceParent } from '../core/trace-context.js'
import type { Resources, TraceApi } from './span-export.js'
import type { SpanData } from './trace-spans.js'

/** Turns finished spans into what the SDK's processors take. */
export function spanReader(api: TraceApi, resources: Resources): (span: SpanData) => ReadableSpan {
  const resource = resourceOf(resources)
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT } as const
  const scope = { name: 'forbear' }
  return span => ({
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => contextOf(span.context),
    ...(span.parentSpanId !== null && {
      parentSpanContext: {
        ...contextOf({ ...span.context, spanId: span.parentSpanId }),
        isRemote: span.kind === 'server',
      },
    }),
    startTime: hrTime(span.startMs),
    endTime: hrTime(span.endMs),
    duration: hrTime(span.endMs - span.startMs),
    status: { code: span.failed ? api.SpanStatusCode.ERROR : api.SpanStatusCode.UNSET },
    attributes: { ...span.attributes },
    links: span.links.map(spanId => ({ context: contextOf({ ...span.context, spanId }) })),
    events: span.events.map(({ name, atMs, attributes }) => ({
      name,
      time: hrTime(atMs),
      attributes: { ...attributes },
    })),
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  })
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES over our own name. */
function resourceOf({ defaultResource, resourceFromAttributes, detectResources, envDetector }: Resources) {
  const named = defaultResource().merge(resourceFromAttributes({ 'service.name': 'forbear' }))
  return named.merge(detectResources({ detectors: [envDetector] }))
}

function contextOf({ traceId, spanId, flags }: TraceParent): SpanContext {
  return { traceId, spanId, traceFlags: flags & 1 }
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}
