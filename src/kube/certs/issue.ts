/** Certificates for the webhook: an authority that signs once, and what it signs. */
import { randomBytes, webcrypto } from 'node:crypto'

/** PEM. The key of the authority is nowhere: nothing else will ever be signed with it. */
export interface Issued {
  readonly authority: string
  readonly cert: string
  readonly key: string
}

export interface IssueOptions {
  /** DNS names; API servers ask for `service.namespace.svc`. */
  readonly names: readonly string[]
  readonly days: number
  /** Unix time. */
  readonly nowMs: number
}

const DAY_MS = 24 * 60 * 60 * 1000
/** For clocks that are behind. */
const SKEW_MS = 5 * 60 * 1000
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const

/** Of a Service in its cluster, the one that API servers ask for included. */
export function serviceNames(service: string, namespace: string): string[] {
  const inNamespace = `${service}.${namespace}`
  return [service, inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`]
}

export async function issueCertificates({ names, days, nowMs }: IssueOptions): Promise<Issued> {
  const x509 = await loadLibrary()
  const [rootKeys, keys] = await Promise.all([newKeys(), newKeys()])
  const validity = { notBefore: new Date(nowMs - SKEW_MS), notAfter: new Date(nowMs + days * DAY_MS) }
  const { KeyUsageFlags } = x509
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: newSerial(),
    // Two authorities of one bundle must not share their name.
    name: `CN=forbear webhook authority ${randomBytes(4).toString('hex')}`,
    keys: rootKeys,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(rootKeys.publicKey),
    ],
  })
  const leaf = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: newSerial(),
    subject: 'CN=forbear webhook',
    issuer: root.subject,
    publicKey: keys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map(value => ({ type: 'dns', value }))),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(rootKeys.publicKey),
    ],
  })
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  return { authority: `${root.toString('pem')}\n`, cert: `${leaf.toString('pem')}\n`, key: `${key}\n` }
}

/** Its decorators want `reflect-metadata` to be there first. */
async function loadLibrary(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0])
  return x509
}

function newKeys() {
  return webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])
}

/** Positive, and of 16 bytes: the first is neither 0 nor above 127. */
function newSerial(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString('hex')
}
