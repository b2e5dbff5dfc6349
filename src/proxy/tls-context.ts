/** The files of `tls` sections, read again when they rotate: cert-manager and kubelet replace them without a word. */
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Clock } from '../clock/clock.js'
import type { Snapshot, TlsSettings, UpstreamSnapshot } from '../core/snapshot.js'
import type { Notice } from '../telemetry/events.js'
import type { TlsStatus } from '../telemetry/status.js'
import { CodedError } from './failure.js'

/** New connections look for other files at most this often, ms. */
const CHECK_EVERY_MS = 5_000
const CERTIFICATES = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]*-----END (?:TRUSTED )?CERTIFICATE-----/g
/** They are read for the first connection. */
const NOT_LOADED: TlsStatus = Object.freeze({ loadedAt: null, certificateExpiresAt: null })
const FILES = ['caFile', 'certFile', 'keyFile'] as const

/** Every set of files that a policy names, once for all its connections. */
export class TlsContexts {
  private readonly sets = new Map<string, TlsFiles>()

  constructor(
    private readonly clock: Clock,
    private readonly tell: (notice: Notice) => void,
  ) {}

  of(tls: TlsSettings): TlsFiles {
    const key = keyOf(tls)
    let files = this.sets.get(key)
    if (files === undefined) {
      files = new TlsFiles(tls, this.clock, this.tell)
      this.sets.set(key, files)
    }
    return files
  }

  /** Forgets the files that no policy names any more; who still uses them has them. */
  reconcile({ upstreams }: Snapshot): void {
    const named = new Set([...upstreams.values()].map(({ tls }) => keyOf(tls)))
    for (const key of this.sets.keys()) if (!named.has(key)) this.sets.delete(key)
  }

  /** Sets of files that are known. */
  get size(): number {
    return this.sets.size
  }

  /** Of the upstreams that are called over TLS with files of their own. */
  statuses({ upstreams }: Snapshot): ReadonlyMap<string, TlsStatus> {
    const withFiles = [...upstreams.values()].filter(usesFiles)
    return new Map(withFiles.map(({ name, tls }) => [name, this.sets.get(keyOf(tls))?.status() ?? NOT_LOADED]))
  }

  /** Whoever asked for a reload does not want to wait for the next look. */
  lookAgain(): void {
    for (const files of this.sets.values()) files.lookAgain()
  }
}

/**
 * `caFile` replaces Node's own list of authorities, as a pinned private authority should. Files that cannot be used
 * change nothing; if there never were others, an error as a value fails each attempt, not the reload.
 */
export class TlsFiles {
  private current: SecureContext | CodedError | null = null
  private loadStatus = NOT_LOADED
  private stamp = ''
  private checkedMs = 0

  constructor(
    private readonly tls: TlsSettings,
    private readonly clock: Clock,
    private readonly tell: (notice: Notice) => void,
  ) {}

  /** For a new connection; the same object as long as the files are the same. */
  context(): SecureContext | CodedError {
    const nowMs = this.clock.nowMs()
    if (this.current !== null && nowMs - this.checkedMs < CHECK_EVERY_MS) return this.current
    this.checkedMs = nowMs
    const stamp = stampOf(this.tls)
    if (this.current !== null && stamp === this.stamp) return this.current
    const loaded = load(this.tls)
    const loadedAt = new Date(this.clock.wallMs()).toISOString()
    // Replaced while they were being read: looked at again next time, and not complained of.
    const torn = stampOf(this.tls) !== stamp
    if (!torn) this.stamp = stamp
    if (loaded instanceof CodedError) this.current = this.chosen(loaded, torn)
    else {
      this.current = this.chosen(loaded.context, torn)
      this.loadStatus = { loadedAt, certificateExpiresAt: loaded.certificateExpiresAt }
    }
    return this.current
  }

  status(): TlsStatus {
    return this.loadStatus
  }

  lookAgain(): void {
    this.checkedMs = Number.NEGATIVE_INFINITY
  }

  private chosen(loaded: SecureContext | CodedError, torn: boolean): SecureContext | CodedError {
    const before = this.current
    const failed = loaded instanceof CodedError
    if (failed && !torn) {
      const kept =
        before === null || before instanceof CodedError ? 'no connection can be made' : 'the last good ones stay'
      const detail = { reason: loaded.message }
      this.tell({ type: 'notice', level: 'warn', message: `tls files cannot be used, ${kept}`, detail })
    }
    if (failed && before !== null) return before instanceof CodedError ? loaded : before
    if (!failed && before !== null) {
      const files = FILES.flatMap(name => this.tls[name] ?? []).join(', ')
      this.tell({ type: 'notice', level: 'info', message: 'tls files read anew', detail: { files } })
    }
    return loaded
  }
}

function keyOf(tls: TlsSettings): string {
  return JSON.stringify(FILES.map(name => tls[name] ?? null))
}

function usesFiles({ target, tls }: UpstreamSnapshot): boolean {
  return target.protocol === 'https:' && FILES.some(name => tls[name] !== undefined)
}

/** Follows links, so that a swapped `..data` shows. */
function stampOf(tls: TlsSettings): string {
  return FILES.map(name => {
    const path = tls[name]
    if (path === undefined) return '-'
    try {
      const { dev, ino, mtimeNs, size } = statSync(path, { bigint: true })
      return [dev, ino, mtimeNs, size].join(':')
    } catch (error) {
      return textOf(error)
    }
  }).join(' ')
}

interface Loaded {
  readonly context: SecureContext
  readonly certificateExpiresAt: string | null
}

function load({ caFile, certFile, keyFile }: TlsSettings): Loaded | CodedError {
  const files = [certFile, keyFile].filter(file => file !== undefined).join(', ')
  try {
    const ca = caFile === undefined ? {} : { ca: authorities(caFile) }
    const cert: { cert?: Buffer } = certFile === undefined ? {} : { cert: readFileSync(certFile) }
    const key = keyFile === undefined ? {} : { key: readFileSync(keyFile) }
    const context = withName(files, () => createSecureContext({ ...ca, ...cert, ...key }))
    return { context, certificateExpiresAt: cert.cert === undefined ? null : expiryOf(cert.cert) }
  } catch (error) {
    return new CodedError('TLS_FILES', textOf(error))
  }
}

/** Of the first certificate, which is the client's own. */
function expiryOf(pem: Buffer): string {
  return new Date(new X509Certificate(pem).validTo).toISOString()
}

/** OpenSSL takes what is no certificate for an empty list, and then trusts nobody. */
function authorities(file: string): Buffer {
  const text = readFileSync(file)
  return withName(file, () => {
    const found = text.toString('latin1').match(CERTIFICATES)
    if (found === null) throw new Error('there is no PEM certificate in it')
    for (const one of found) new X509Certificate(one)
    return text
  })
}

function withName<T>(name: string, fn: () => T): T {
  try {
    return fn()
  } catch (error) {
    throw new Error(`${name}: ${textOf(error)}`)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
