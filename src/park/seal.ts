/** Header values that nobody may read out of a store: encrypted with a key file, or left out. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** Name and value; `sealed`: the value is encrypted. */
export type SealedHeader =
  | readonly [name: string, value: string]
  | readonly [name: string, value: string, sealed: 'sealed']

export interface SealKey {
  /** Tells one key from another, and nothing of either. */
  readonly id: string
  readonly bytes: Buffer
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LEAST_KEY_BYTES = 16

/** The file's bytes are stretched, so it may hold any form of randomness; white space at its end does not matter. */
export async function readSealKey(file: string): Promise<SealKey> {
  const text = (await readFile(file)).toString('latin1').trimEnd()
  if (text.length < LEAST_KEY_BYTES) throw new Error(`the key file ${file} has fewer than ${LEAST_KEY_BYTES} bytes`)
  const bytes = Buffer.from(hkdfSync('sha256', Buffer.from(text, 'latin1'), '', 'forbear parked headers 1', 32))
  return { id: createHash('sha256').update(bytes).digest('base64url').slice(0, 8), bytes }
}

/** `entry` is bound to it: a value cannot be moved to another entry or header. */
export function seal(key: SealKey, entry: string, name: string, value: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce).setAAD(bound(entry, name))
  const text = Buffer.concat([cipher.update(value, 'latin1'), cipher.final()])
  return `${key.id}.${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')}`
}

/** Throws when it is not of this key, entry and header. */
export function unseal(key: SealKey, entry: string, name: string, sealed: string): string {
  const [id, text = ''] = sealed.split('.')
  if (id !== key.id) throw new Error('it was encrypted with another key')
  const bytes = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(bound(entry, name)).setAuthTag(bytes.subarray(-TAG_BYTES))
  const middle = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  return Buffer.concat([decipher.update(middle), decipher.final()]).toString('latin1')
}

function bound(entry: string, name: string): Buffer {
  return Buffer.from(`${entry}\n${name.toLowerCase()}`, 'latin1')
}

/** They are for this hop alone (RFC 9110 §10.1.1, §11.7.2), and the second is a secret. */
const NOT_FOR_THE_UPSTREAM: ReadonlySet<string> = new Set(['expect', 'proxy-authorization'])

/**
 * The headers as they are stored. Our own are left out, since they were about the first call; so are the secret ones when
 * there is no key.
 */
export function sealHeaders(
  headers: readonly string[],
  secret: readonly string[],
  key: SealKey | null,
  entry: string,
): SealedHeader[] {
  const stored: SealedHeader[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const lower = name.toLowerCase()
    if (lower.startsWith('forbear-') || NOT_FOR_THE_UPSTREAM.has(lower)) continue
    if (!secret.includes(lower)) stored.push([name, value])
    else if (key !== null) stored.push([name, seal(key, entry, name, value), 'sealed'])
  }
  return stored
}

/** Back to a flat list. Throws when one cannot be read. */
export function unsealHeaders(stored: readonly SealedHeader[], key: SealKey | null, entry: string): string[] {
  return stored.flatMap(([name, value, sealed]) => {
    if (sealed === undefined) return [name, value]
    if (key === null) throw new Error('its headers are encrypted and the policy names no keyFile')
    return [name, unseal(key, entry, name, value)]
  })
}
