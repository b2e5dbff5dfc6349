/** The certificate that API servers see: read from a mounted Secret, and again whenever that changes. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Timer } from '../../clock/clock.js'
import { DirectoryHints } from '../../policy/directory-hints.js'
import { dataTarget } from '../../policy/directory-stamp.js'
import { Settle } from '../../policy/settle.js'

/** Names of a Secret of type kubernetes.io/tls. */
export const CERT_FILE = 'tls.crt'
export const KEY_FILE = 'tls.key'
/** Finds what file events missed. */
const POLL_MS = 5000

export interface Pair {
  readonly cert: string
  readonly key: string
}

export interface CertificateFacts {
  readonly serial: string
  /** Unix time, s. */
  readonly expiresAtSeconds: number
}

export interface CertificateListener {
  /** A pair that fits, for all handshakes from now on. */
  onPair(pair: Pair, facts: CertificateFacts): void
  /** Told once, while the reason is the same; what was in force stays. */
  onUnusable(reason: string): void
}

/** Only whole pairs are handed on: of a directory that is being written the last good one stays. */
export class CertificateWatcher {
  readonly #dir: string
  readonly #clock: Clock
  readonly #listener: CertificateListener
  readonly #hints: DirectoryHints
  readonly #settle: Settle<void>
  #pair: Pair | null = null
  #failure: string | null = null
  #poll: Timer | null = null
  #tail: Promise<void> = Promise.resolve()
  #closed = false

  constructor(dir: string, clock: Clock, listener: CertificateListener) {
    this.#dir = dir
    this.#clock = clock
    this.#listener = listener
    this.#settle = new Settle(clock, () => void this.look())
    this.#hints = new DirectoryHints(dir, {
      onHint: () => {
        if (!this.#closed) this.#settle.hint()
      },
      // The poll is there in any case.
      onDeaf: () => undefined,
    })
  }

  /** Resolves after the first look; there need not be a certificate yet. */
  async start(): Promise<void> {
    await this.look()
    void this.#again()
  }

  /** Reads the files now; never rejects. */
  look(): Promise<void> {
    this.#tail = this.#tail.then(() => this.#read())
    return this.#tail
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#poll?.cancel()
    this.#settle.cancel()
    await Promise.all([this.#hints.close(), this.#tail])
  }

  async #again(): Promise<void> {
    await this.#hints.follow()
    if (this.#closed) return
    this.#poll = this.#clock.after(POLL_MS, () => void this.look().then(() => this.#again()))
  }

  async #read(): Promise<void> {
    try {
      const pair = await readPair(this.#dir)
      if (this.#closed || (pair.cert === this.#pair?.cert && pair.key === this.#pair.key)) return
      const facts = factsOf(pair)
      this.#listener.onPair(pair, facts)
      this.#pair = pair
      this.#failure = null
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== this.#failure && !this.#closed) this.#listener.onUnusable(reason)
      this.#failure = reason
    }
  }
}

/** Both from one version of the Secret, which kubelet swaps as a whole by the link `..data`. */
async function readPair(dir: string): Promise<Pair> {
  const root = join(dir, (await dataTarget(dir)) ?? '')
  const [cert, key] = await Promise.all([CERT_FILE, KEY_FILE].map(name => readFile(join(root, name), 'utf8')))
  return { cert: cert ?? '', key: key ?? '' }
}

/** Throws where the two do not belong together. Messages of OpenSSL show nothing of a key. */
function factsOf({ cert, key }: Pair): CertificateFacts {
  const certificate = named(CERT_FILE, () => new X509Certificate(cert))
  const privateKey = named(KEY_FILE, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) throw new Error(`${KEY_FILE} is not the key of ${CERT_FILE}`)
  return { serial: certificate.serialNumber, expiresAtSeconds: Date.parse(certificate.validTo) / 1000 }
}

function named<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Error(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`)
  }
}
