/** What a sidecar is started with and what is had of it. */
import type { PolicyMessage } from './policy/messages.js'
import type { AccessLog, LogLevel } from './telemetry/log.js'

export interface SidecarOptions {
  readonly policiesDir: string
  /** `host:port`; `localhost` binds both loopbacks. */
  readonly listen: string
  readonly admin: string
  readonly health: string
  /** `valid-only` starts with the documents that are valid and answers 503 for the others. */
  readonly start: 'all' | 'valid-only'
  /** What becomes of a CONNECT to an undeclared host. `tunnel` needs a `listen` on loopback. Default `refuse`. */
  readonly unmatched?: 'refuse' | 'tunnel'
  /** Of the app, to each address that it may call. Default 10000. */
  readonly maxConnections?: number
  readonly logLevel: LogLevel
  readonly accessLog: AccessLog
  /** With `sampled`, one of so many plain requests is logged. Default 100. */
  readonly accessLogSample?: number
  readonly drainPeriodMs: number
  /** Without a call for so long, the app is taken to be done. Default: 2 s. */
  readonly drainQuietMs?: number
  /** Coloured text instead of JSON. Default false. */
  readonly pretty?: boolean
}

export interface Sidecar {
  readonly addresses: {
    readonly shared: readonly string[]
    readonly admin: readonly string[]
    readonly health: readonly string[]
  }
  /** Reads the policies again, as SIGHUP does. */
  reload(): void
  /** `graceful` waits until the app has been quiet for a while; else only for calls in flight. */
  stop(graceful: boolean): void
  /** Resolves with the exit code when everything is closed. */
  readonly closed: Promise<number>
}

/** The policies cannot be used; nothing was bound. */
export class ConfigurationError extends Error {
  constructor(readonly messages: readonly PolicyMessage[]) {
    super('the policies cannot be used')
  }
}
