/** `forbear certs`: what it makes, what it says, and why it would not. */
import { readFile } from 'node:fs/promises'
import { type CertificateSet, caBundleOf, firstSet, nextSet } from './bundle.js'
import { existingFile, readSet, writeSet } from './directory.js'
import { issueCertificates, serviceNames } from './issue.js'
import { stepsForDirectory, stepsForSecret } from './next-steps.js'
import { changedSecret, newSecret, readSecret } from './secret.js'

export interface Said {
  readonly stdout: string
  readonly stderr: string
}

/** The command cannot do what it was asked; the message is a sentence for its user. */
export class CertsError extends Error {}

interface Target {
  /** `null`: a Secret on standard output. */
  readonly dir: string | null
  readonly secretName: string
  readonly days: number
}

export interface InitOptions extends Target {
  readonly namespace: string
  readonly service: string
}

/** A namespace or a Service: RFC 1123 label. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
}

export async function initCertificates(options: InitOptions, nowMs: number): Promise<Said> {
  const { dir, namespace, service, secretName, days } = options
  const existing = dir === null ? null : await existingFile(dir)
  if (existing !== null) throw new CertsError(`${existing} exists; forbear certs rotate replaces certificates in use`)
  const set = firstSet(await issueCertificates({ names: serviceNames(service, namespace), days, nowMs }))
  if (dir === null) return { stdout: newSecret({ name: secretName, namespace }, set), stderr: stepsForSecret(set) }
  return store(dir, set, { secret: secretName, namespace })
}

export interface RotateDirectory extends Target {
  readonly dir: string
  readonly namespace: string
}

export async function rotateDirectory(options: RotateDirectory, nowMs: number): Promise<Said> {
  const { dir, secretName, namespace, days } = options
  const set = await orSentence(`${dir} cannot be rotated`, async () => nextSet(await readSet(dir), { days, nowMs }))
  return store(dir, set, { secret: secretName, namespace })
}

/** @param text of a Secret's manifest */
export async function rotateSecret(text: string, days: number, nowMs: number): Promise<Said> {
  return orSentence('the Secret cannot be rotated', async () => {
    const secret = readSecret(text)
    const set = await nextSet(secret.set, { days, nowMs })
    return { stdout: changedSecret(secret, set), stderr: stepsForSecret(set) }
  })
}

export async function readSecretFile(path: string): Promise<string> {
  return orSentence(`${path} cannot be read`, () => readFile(path, 'utf8'))
}

async function store(
  dir: string,
  set: CertificateSet,
  place: { readonly secret: string; readonly namespace: string },
): Promise<Said> {
  await orSentence(`${dir} cannot be written`, () => writeSet(dir, set))
  const stderr = `wrote ca.crt, tls.crt and tls.key (0600) to ${dir}\ncaBundle: ${caBundleOf(set)}\n`
  return { stdout: stepsForDirectory(set, { dir, ...place }), stderr }
}

async function orSentence<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new CertsError(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
