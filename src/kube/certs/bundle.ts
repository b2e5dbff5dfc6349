/** The three texts of a certificate Secret, and how one follows another. */
import { X509Certificate } from 'node:crypto'
import { type Issued, issueCertificates } from './issue.js'

/** PEM, by the names of a Secret of type kubernetes.io/tls. */
export interface CertificateSet {
  /** What API servers trust: one authority, or in a rotation the one before, too. */
  readonly 'ca.crt': string
  readonly 'tls.crt': string
  readonly 'tls.key': string
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export function firstSet({ authority, cert, key }: Issued): CertificateSet {
  return { 'ca.crt': authority, 'tls.crt': cert, 'tls.key': key }
}

/**
 * A new authority and a new certificate of the same names. Whoever trusts the bundle trusts the old certificate too, so
 * it can be handed out first. Throws with a sentence when the old texts are no certificates.
 */
export async function nextSet(
  before: Pick<CertificateSet, 'ca.crt' | 'tls.crt'>,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): Promise<CertificateSet> {
  const [leaf] = certificatesOf(before['tls.crt'], 'tls.crt')
  const trusted = certificatesOf(before['ca.crt'], 'ca.crt').filter(one => leaf !== undefined && leaf.checkIssued(one))
  if (leaf === undefined || trusted.length === 0) throw new Error('no certificate in ca.crt has signed tls.crt')
  const issued = await issueCertificates({ names: namesOf(leaf), days, nowMs })
  const kept = trusted.filter(one => Date.parse(one.validTo) > nowMs).map(one => one.toString())
  return { ...firstSet(issued), 'ca.crt': [...kept, issued.authority].join('') }
}

/** For `caBundle`. */
export function caBundleOf(set: Pick<CertificateSet, 'ca.crt'>): string {
  return Buffer.from(set['ca.crt']).toString('base64')
}

function certificatesOf(pem: string, file: string): X509Certificate[] {
  const found = pem.match(CERTIFICATES)
  if (found === null) throw new Error(`${file} holds no certificate`)
  try {
    return found.map(one => new X509Certificate(one))
  } catch {
    throw new Error(`${file} holds a certificate that cannot be read`)
  }
}

function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  const names = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name)
  if (names.length === 0) throw new Error('tls.crt is for no DNS name')
  return names
}
