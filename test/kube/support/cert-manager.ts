import { fields, type KubeObject, nameOf } from './ladder/objects.js'

/** The fields of cert-manager.io/v1 that may be used here; its definitions are not among the types of Kubernetes. */
const FIELDS: Record<string, readonly string[]> = {
  Issuer: ['selfSigned', 'ca'],
  Certificate: [
    'secretName',
    'duration',
    'renewBefore',
    'issuerRef',
    'dnsNames',
    'privateKey',
    'usages',
    'isCA',
    'commonName',
  ],
}

export function againstCertManager(object: KubeObject): string[] {
  const known = FIELDS[object.kind] ?? []
  return Object.keys(fields(object['spec']))
    .filter(field => !known.includes(field))
    .map(field => `${nameOf(object)}: ${field}`)
}
