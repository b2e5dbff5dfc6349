/** The Secret that the webhook mounts, as a manifest. */
import { parse, stringify } from 'yaml'
import type { CertificateSet } from './bundle.js'

export interface SecretName {
  readonly name: string
  readonly namespace: string
}

const FILES = ['ca.crt', 'tls.crt', 'tls.key'] as const
type Fields = Readonly<Record<string, unknown>>

export function newSecret({ name, namespace }: SecretName, set: CertificateSet): string {
  return secretText({ name, namespace }, set)
}

export interface ReadSecret {
  readonly metadata: Fields
  readonly set: Pick<CertificateSet, 'ca.crt' | 'tls.crt'>
}

/** From YAML or JSON, as `kubectl get secret -o yaml` prints it. Throws with a sentence. */
export function readSecret(text: string): ReadSecret {
  const secret = parseObject(text)
  if (secret?.['kind'] !== 'Secret') throw new Error('there is no Secret in it')
  const { metadata, data } = secret
  if (!isFields(metadata) || !isFields(data)) throw new Error('the Secret has no metadata or no data')
  return { metadata, set: { 'ca.crt': decoded(data, 'ca.crt'), 'tls.crt': decoded(data, 'tls.crt') } }
}

/** The same Secret with other certificates; of its metadata what one would write by hand. */
export function changedSecret({ metadata }: ReadSecret, set: CertificateSet): string {
  const { name, namespace, labels, annotations } = metadata
  const kept = isFields(annotations) ? Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED) : []
  return secretText(
    {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
    },
    set,
  )
}

/** It holds a copy of the old key. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

function secretText(metadata: Fields, set: CertificateSet): string {
  const data = Object.fromEntries(FILES.map(file => [file, Buffer.from(set[file]).toString('base64')]))
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data }
  // kubectl reads YAML 1.1, where a name such as `on` must stand in quotes.
  return stringify(secret, { version: '1.1', lineWidth: 0 })
}

function parseObject(text: string): Fields | null {
  try {
    const value: unknown = parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

function decoded(data: Fields, key: string): string {
  const value = data[key]
  if (typeof value !== 'string') throw new Error(`the Secret has no ${key}`)
  return Buffer.from(value, 'base64').toString()
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
