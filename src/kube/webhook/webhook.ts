/** The webhook as a whole: joins servers, certificates, judges, log and metrics. */
import { createHealthServer } from '../../admin/health.js'
import { SystemClock } from '../../clock/system-clock.js'
import { drained, QUIET_MS } from '../../pipeline/drain.js'
import { bindAll, boundAddress, readListenAddress } from '../../proxy/bind.js'
import { keepLastWords } from '../../telemetry/last-words.js'
import { createLogSink, type LogLevel, type LogSink } from '../../telemetry/log.js'
import type { InjectOptions } from '../inject/types.js'
import type { Decision } from './admission-review.js'
import { CertificateWatcher } from './certificates.js'
import { JudgeThread } from './judge-thread.js'
import { reviewPod } from './review-pod.js'
import { type Review, ReviewServer, type ReviewTold } from './review-server.js'
import { reviewPolicyMap } from './validate-policy.js'
import { createWebhookMetrics, type ReviewResult } from './webhook-metrics.js'

export interface WebhookOptions {
  /** Directory with `tls.crt` and `tls.key`. */
  readonly certs: string
  /** `host:port` */
  readonly listen: string
  readonly health: string
  readonly inject: InjectOptions
  readonly logLevel: LogLevel
  readonly drainPeriodMs: number
  /** Coloured text instead of JSON. */
  readonly pretty: boolean
}

export interface Webhook {
  readonly addresses: { readonly listen: readonly string[]; readonly health: readonly string[] }
  /** Looks for another certificate now. */
  reload(): void
  /** `graceful` waits until no API server has asked for a while; else only for reviews in flight. */
  stop(graceful: boolean): void
  /** Resolves with the exit code when everything is closed. */
  readonly closed: Promise<number>
}

/** Starts everything, or rejects with `BindError` and holds nothing. A certificate that is missing is waited for. */
export async function startWebhook(options: WebhookOptions): Promise<Webhook> {
  const { logLevel: level, pretty } = options
  const runtime = new Runtime(options, createLogSink({ level, accessLog: 'off', pretty }))
  const addresses = await runtime.start()
  return {
    addresses,
    reload: () => void runtime.certificates.look(),
    stop: graceful => runtime.stop(graceful),
    closed: runtime.closed,
  }
}

class Runtime {
  readonly closed: Promise<number>
  readonly certificates: CertificateWatcher
  readonly #options: WebhookOptions
  readonly #sink: LogSink
  readonly #clock = new SystemClock()
  readonly #metrics = createWebhookMetrics()
  readonly #judge = new JudgeThread(this.#clock)
  readonly #server: ReviewServer
  readonly #health
  readonly #forgetLastWords: () => void
  #certified = false
  #listening = false
  #stopping = false
  #end: (code: number) => void = () => {}

  constructor(options: WebhookOptions, sink: LogSink) {
    this.#options = options
    this.#sink = sink
    this.closed = new Promise(resolve => {
      this.#end = resolve
    })
    this.#forgetLastWords = keepLastWords(sink)
    this.#server = new ReviewServer({
      reviews: new Map<string, Review>([
        ['/mutate', request => reviewPod(request, options.inject)],
        ['/validate-policy', (request, time) => reviewPolicyMap(request, this.#judge.judge, time)],
      ]),
      nowMs: () => this.#clock.nowMs(),
      onReviewed: told => this.#onReviewed(told),
      onRefused: (status, error) => {
        this.#metrics.onRefused(status)
        sink.log.warn('refused what is no review', { status, error })
      },
    })
    this.certificates = this.#watchCertificates()
    this.#health = createHealthServer({ phase: () => this.#phase(), metrics: this.#metrics })
  }

  async start(): Promise<Webhook['addresses']> {
    try {
      const health = await this.#health.listen(this.#options.health)
      await this.certificates.start()
      const address = readListenAddress(this.#options.listen)
      const bound = await bindAll(
        address,
        () => this.#server.create(),
        () => undefined,
      )
      this.#listening = true
      const listen = bound.map(boundAddress)
      this.#sink.log.info('listening', { webhook: listen, health })
      return { listen, health }
    } catch (error) {
      await this.#close()
      throw error
    }
  }

  stop(graceful: boolean): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#server.stop()
    this.#sink.log.info('draining: not ready any more, reviews are still answered')
    const { drainPeriodMs } = this.#options
    void drained(this.#server, this.#clock, drainPeriodMs, graceful ? QUIET_MS : 0).then(() => this.#close())
  }

  #phase(): 'starting' | 'ready' | 'stopping' {
    if (this.#stopping) return 'stopping'
    return this.#listening && this.#certified ? 'ready' : 'starting'
  }

  #watchCertificates(): CertificateWatcher {
    return new CertificateWatcher(this.#options.certs, this.#clock, {
      onPair: (pair, facts) => {
        this.#server.use(pair)
        this.#certified = true
        this.#metrics.onCertificate(facts.expiresAtSeconds)
        const expiresAt = new Date(facts.expiresAtSeconds * 1000).toISOString()
        this.#sink.log.info('certificate in use', { serial: facts.serial, expiresAt })
      },
      onUnusable: reason => {
        this.#metrics.onCertificateFailure()
        const message = this.#certified ? 'new certificate refused, the last good one stays' : 'no certificate yet'
        this.#sink.log.warn(message, { dir: this.#options.certs, reason })
      },
    })
  }

  #onReviewed({ webhook, request, reason, decision, codes, durationMs, error }: ReviewTold): void {
    const result = error === undefined ? resultOf(decision) : 'error'
    this.#metrics.onReview({ webhook, result, reason, durationMs })
    const { uid, operation, namespace, name } = request
    const about = { webhook, result, reason, uid, operation, namespace, name, durationMs }
    const more = { ...(codes !== undefined && codes.length > 0 && { codes }), ...(error !== undefined && { error }) }
    if (error === undefined) this.#sink.log.info('reviewed', { ...about, ...more })
    else this.#sink.log.error('not reviewed, let through', { ...about, ...more })
  }

  async #close(): Promise<void> {
    await Promise.all([this.#server.close(), this.#health.close(), this.certificates.close(), this.#judge.close()])
    this.#forgetLastWords()
    this.#end(0)
  }
}

function resultOf(decision: Decision): ReviewResult {
  if (!decision.allowed) return 'denied'
  return decision.patch.length > 0 ? 'patched' : 'allowed'
}
