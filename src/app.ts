/** Composition root: the only place that constructs things and joins them. */
import { randomBytes, randomUUID } from 'node:crypto'
import { createAdminServer } from './admin/admin.js'
import { Observer } from './admin/dashboard/observer.js'
import { createHealthServer } from './admin/health.js'
import { sidecarActions } from './admin/sidecar-actions.js'
import { sidecarStatus } from './admin/sidecar-status.js'
import { SystemClock } from './clock/system-clock.js'
import type { Snapshot } from './core/snapshot.js'
import { unmatchedUpstream } from './core/unmatched.js'
import { LateParking } from './park/late-parking.js'
import { drained, QUIET_MS } from './pipeline/drain.js'
import { Pipeline } from './pipeline/pipeline.js'
import { builtInPolicy } from './policy/compile-upstream.js'
import { parseDurationMs } from './policy/duration.js'
import { loadAtStart } from './policy/load-in-worker.js'
import type { Load } from './policy/load-request.js'
import type { PolicyMessage } from './policy/messages.js'
import { PolicyRecord } from './policy/policy-record.js'
import { startReport } from './policy/start-report.js'
import { PolicyWatcher } from './policy/watcher.js'
import { BindError } from './proxy/bind.js'
import { decodeBody } from './proxy/decode-body.js'
import { FallbackFiles } from './proxy/fallback-files.js'
import { FaultTransport } from './proxy/fault-transport.js'
import { Listeners } from './proxy/listeners.js'
import { breakersOn } from './proxy/make-breaker.js'
import { redeliver } from './proxy/redeliver.js'
import { Resolver } from './proxy/resolver.js'
import { TlsContexts } from './proxy/tls-context.js'
import { UndiciTransport } from './proxy/transport.js'
import { ConfigurationError, type Sidecar, type SidecarOptions } from './sidecar.js'
import type { EventSink, PolicyReloaded } from './telemetry/events.js'
import { fanOut } from './telemetry/fan-out.js'
import { keepLastWords } from './telemetry/last-words.js'
import { createLogSink, type LogSink } from './telemetry/log.js'
import { createMetrics } from './telemetry/metrics.js'
import type { SidecarStatus } from './telemetry/status.js'
import { createTracing, type Traces } from './telemetry/tracing.js'

export { ConfigurationError, type Sidecar, type SidecarOptions } from './sidecar.js'
export { BindError }

/** Starts everything, or rejects with `ConfigurationError` or `BindError` and holds nothing. */
export async function startSidecar(options: SidecarOptions): Promise<Sidecar> {
  const { loaded, load } = loadAtStart(options.policiesDir, options.start)
  const { messages } = loaded
  const snapshot = loaded.ok ? loaded.snapshot : loaded.partial
  if (snapshot === undefined) throw new ConfigurationError(messages)
  const { logLevel: level, accessLog, accessLogSample, pretty = false } = options
  const log = createLogSink({ level, accessLog, accessLogSample, pretty })
  const runtime = new Runtime(options, log, { snapshot, whole: loaded.ok, messages }, load)
  const addresses = await runtime.start()
  return {
    addresses,
    reload: () => void runtime.watcher.reload('signal'),
    stop: graceful => runtime.stop(graceful),
    closed: runtime.closed,
  }
}

/** What the sidecar starts with; not `whole`: the valid part of it. */
interface First {
  readonly snapshot: Snapshot
  readonly whole: boolean
  readonly messages: readonly PolicyMessage[]
}

/** The spans of the last calls get so long to reach their collector. */
const TRACE_FLUSH_MS = 2000

/** One running sidecar. */
class Runtime {
  readonly closed: Promise<number>
  readonly watcher: PolicyWatcher
  readonly #options: SidecarOptions
  readonly #clock = new SystemClock()
  readonly #sink: EventSink
  readonly #traces: Traces | null
  readonly #resolver = new Resolver(this.#clock)
  readonly #tls = new TlsContexts(this.#clock, notice => this.#sink.emit(notice))
  readonly #tools = { resolver: this.#resolver, tls: this.#tls, clock: this.#clock }
  readonly #transport = new UndiciTransport(this.#tools)
  readonly #parking: LateParking
  readonly #pipeline: Pipeline
  readonly #listeners: Listeners
  readonly #admin
  readonly #health
  readonly #forgetLastWords: () => void
  readonly #record = new PolicyRecord()
  readonly #first: First
  #phase: 'starting' | 'ready' | 'stopping' = 'starting'
  /** Red alone, by the admin port's /drain, is not the end yet. */
  #ending = false
  #adminAddress = ''
  #end: (code: number) => void = () => {}

  constructor(options: SidecarOptions, log: LogSink, first: First, load: Load) {
    const { snapshot, whole } = first
    this.#options = options
    this.#first = first
    this.closed = new Promise(resolve => {
      this.#end = resolve
    })
    this.#forgetLastWords = keepLastWords(log)
    const status = () => this.#status()
    const metrics = createMetrics({ status })
    const observer = new Observer({ clock: this.#clock, status, tallies: metrics.tallies })
    this.#traces = createTracing(process.env, { clock: this.#clock, tell: notice => log.emit(notice) })
    this.#sink = fanOut([log, metrics, observer, ...(this.#traces === null ? [] : [this.#traces])])
    const pseudonym = `forbear-${randomBytes(4).toString('hex')}`
    this.#transport.reconcile(snapshot)
    this.#parking = this.#createParking(pseudonym)
    this.#pipeline = this.#createPipeline(snapshot, pseudonym)
    const reserved = { [options.admin]: 'admin port', [options.health]: 'health port' }
    const { listen, maxConnections } = options
    const ports = { listen, reserved, pseudonym, maxConnections, ...this.#tools }
    this.#listeners = new Listeners(ports, this.#pipeline, this.#sink)
    this.watcher = new PolicyWatcher({
      dir: options.policiesDir,
      mode: whole ? 'all' : options.start,
      clock: this.#clock,
      current: snapshot,
      load,
      onSnapshot: next => this.#apply(next),
      onReload: event => this.#onReload(event),
      onNotice: (level, message) => this.#sink.emit({ type: 'notice', level, message }),
    })
    const phase = () => this.#phase
    this.#health = createHealthServer({ phase, metrics })
    const policies = () => this.#pipeline.snapshot
    const parked = () => this.#parking.calls
    const policy = (upstream: string) => policies().upstreams.get(upstream)
    const pages = { phase, metrics, status, policies, policy, parked, observer }
    this.#admin = createAdminServer({ ...pages, actions: this.#actions(), parseDurationMs })
  }

  async start(): Promise<Sidecar['addresses']> {
    try {
      const { snapshot, whole, messages } = this.#first
      const health = await this.#health.listen(this.#options.health)
      const admin = await this.#admin.listen(this.#options.admin)
      const shared = await this.#listeners.start(snapshot)
      for (const address of admin) this.#sink.emit({ type: 'listening', role: 'admin', upstream: null, address })
      for (const address of health) this.#sink.emit({ type: 'listening', role: 'health', upstream: null, address })
      this.#onReload(startReport(snapshot, whole, messages))
      this.#adminAddress = admin[0] ?? this.#options.admin
      await this.#parking.reconcile(snapshot)
      this.#phase = 'ready'
      this.watcher.start()
      return { shared, admin, health }
    } catch (error) {
      await this.#close()
      throw error
    }
  }

  stop(graceful: boolean): void {
    if (this.#ending) return
    this.#ending = true
    this.#goRed()
    const { drainPeriodMs, drainQuietMs = QUIET_MS } = this.#options
    void drained(this.#pipeline, this.#clock, drainPeriodMs, graceful ? drainQuietMs : 0).then(() => this.#close())
  }

  #goRed(): void {
    if (this.#phase === 'stopping') return
    this.#phase = 'stopping'
    this.#listeners.draining = true
    this.#pipeline.draining = true
    this.#sink.emit({ type: 'notice', level: 'info', message: 'draining: not ready any more, calls are still served' })
  }

  #createParking(pseudonym: string): LateParking {
    const clock = this.#clock
    return new LateParking({
      clock,
      random: Math.random,
      sink: this.#sink,
      locate: id => `http://${this.#adminAddress}/parked/${id}`,
      redeliver: (call, upstream) => redeliver(this.#pipeline, clock, pseudonym, call, upstream),
    })
  }

  #createPipeline(snapshot: Snapshot, pseudonym: string): Pipeline {
    const clock = this.#clock
    const files = new FallbackFiles(clock, notice => this.#sink.emit(notice))
    return new Pipeline(
      {
        clock,
        random: Math.random,
        pseudonym,
        sink: this.#sink,
        parking: this.#parking,
        tracing: this.#traces,
        transport: new FaultTransport(this.#transport, clock),
        newKey: randomUUID,
        fallbackFile: path => files.read(path),
        decodeBody,
        connections: upstream => this.#transport.connections(upstream),
        makeBreaker: breakersOn(clock, Math.random),
        ...(this.#options.unmatched === 'tunnel' && { unmatched: unmatchedUpstream(builtInPolicy()) }),
      },
      snapshot,
    )
  }

  #apply(snapshot: Snapshot): void {
    this.#transport.reconcile(snapshot)
    this.#pipeline.apply(snapshot)
    void this.#parking.reconcile(snapshot)
    void this.#listeners.reconcile(snapshot)
  }

  #onReload(event: PolicyReloaded): void {
    this.#tls.lookAgain()
    this.#record.onReload(event)
    this.#sink.emit(event)
  }

  #actions() {
    return sidecarActions({
      pipeline: this.#pipeline,
      watcher: this.watcher,
      listeners: this.#listeners,
      drain: () => this.#goRed(),
      quit: () => this.stop(false),
    })
  }

  #status(): SidecarStatus {
    const [pipeline, record, listeners, tls] = [this.#pipeline, this.#record, this.#listeners, this.#tls]
    const [parked, draining] = [this.#parking.status(), this.#phase === 'stopping']
    return sidecarStatus({ pipeline, record, listeners, tls, parked, draining, traces: this.#traces?.status() })
  }

  async #close(): Promise<void> {
    await this.#listeners.close()
    this.#pipeline.drain()
    await this.#parking.close()
    this.#pipeline.dispose()
    const others = [this.watcher, this.#admin, this.#health].map(part => part.close())
    await Promise.allSettled([this.#transport.destroy(), ...others])
    await this.#traces?.close(TRACE_FLUSH_MS)
    this.#forgetLastWords()
    this.#end(0)
  }
}
