/** What Prometheus is shown of the webhook, beside the metrics of the process. */
import { createRequire } from 'node:module'

/** `error`: could not be judged, and was let through. */
export type ReviewResult = 'patched' | 'allowed' | 'denied' | 'error'

export interface CountedReview {
  readonly webhook: string
  readonly result: ReviewResult
  readonly reason: string
  readonly durationMs: number
}

export interface WebhookMetrics {
  onReview(review: CountedReview): void
  onRefused(status: number): void
  /** Unix time, s. */
  onCertificate(expiresAtSeconds: number): void
  onCertificateFailure(): void
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>
}

/** Seconds; an API server waits 5. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export function createWebhookMetrics(): WebhookMetrics {
  // Not by `import()`: of a CommonJS package Node 20 now and then makes an empty namespace on a busy host.
  const { Registry, Counter, Gauge, Histogram, collectDefaultMetrics } = createRequire(import.meta.url)(
    'prom-client',
  ) as typeof import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const reviews = new Counter({
    name: 'forbear_webhook_reviews_total',
    help: 'Reviews that were answered, by what was decided and why.',
    labelNames: ['webhook', 'result', 'reason'],
    registers,
  })
  const durations = new Histogram({
    name: 'forbear_webhook_review_duration_seconds',
    help: 'From the whole request to the answer.',
    labelNames: ['webhook'],
    buckets: BUCKETS,
    registers,
  })
  const refused = new Counter({
    name: 'forbear_webhook_refused_requests_total',
    help: 'Requests that were no reviews, by status.',
    labelNames: ['status'],
    registers,
  })
  const expiry = new Gauge({
    name: 'forbear_webhook_certificate_expiry_timestamp_seconds',
    help: 'When the certificate in use ends, Unix time; 0 = there is none.',
    registers,
  })
  const loads = new Counter({
    name: 'forbear_webhook_certificate_loads_total',
    help: 'Certificates that were put into use, and pairs that could not be.',
    labelNames: ['result'],
    registers,
  })
  return {
    onReview: ({ webhook, result, reason, durationMs }) => {
      reviews.inc({ webhook, result, reason })
      durations.observe({ webhook }, durationMs / 1000)
    },
    onRefused: status => refused.inc({ status }),
    onCertificate: expiresAtSeconds => {
      expiry.set(expiresAtSeconds)
      loads.inc({ result: 'ok' })
    },
    onCertificateFailure: () => loads.inc({ result: 'failed' }),
    scrape: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}
