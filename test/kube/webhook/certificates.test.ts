/** Another certificate while the built command serves. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type CertificateSet, nextSet } from '../../../src/kube/certs/bundle.js'
import { until } from '../../e2e/harness/time.js'
import { admit, NAMESPACE, post, reviewOf, SERVICE, type WebhookConfig } from './support/api-server.js'
import { pod } from './support/pods.js'
import { newCertificates, WebhookProcess } from './support/webhook-process.js'

let webhook: WebhookProcess | null = null
afterEach(async () => {
  await webhook?.stop()
  webhook = null
})

const REVIEW = JSON.stringify(reviewOf({ object: pod() }))
const asFiles = (set: Partial<CertificateSet>) => set as Record<string, string>
const serialAt = async (config: WebhookConfig) => (await post(config, REVIEW)).serial

async function started(set: CertificateSet): Promise<WebhookProcess> {
  webhook = await WebhookProcess.spawn(set, set['ca.crt'])
  await webhook.ready()
  return webhook
}

describe('a rotation', () => {
  it('goes by without a handshake that fails, before, in and after it', async () => {
    const old = await newCertificates()
    const running = await started(old)
    const next = await nextSet(old, { days: 30, nowMs: Date.now() })
    const oldSerial = await serialAt(running.at('/mutate'))
    // First what is trusted, then what is shown.
    running.caBundle = next['ca.crt']
    const serials: string[] = []
    const failures: unknown[] = []
    let going = true
    const callers = Array.from({ length: 4 }, async () => {
      while (going)
        await serialAt(running.at('/mutate')).then(
          serial => serials.push(serial),
          error => failures.push(error),
        )
    })
    await until('some handshakes with the old certificate', () => serials.length > 10, 20_000)
    running.secret.rotate(asFiles(next))
    await until('the new certificate is shown', () => serials.at(-1) !== oldSerial, 20_000)
    const changedAt = serials.length
    await until('some handshakes with the new certificate', () => serials.length > changedAt + 10, 20_000)
    going = false
    await Promise.all(callers)
    expect(failures).toEqual([])
    expect(new Set(serials).size).toBe(2)
    expect(await running.metric('forbear_webhook_certificate_loads_total{result="ok"}')).toBe(2)
  })

  it('to another authority that is not trusted yet fails at the API server, not here', async () => {
    const running = await started(await newCertificates())
    const before = await serialAt(running.at('/mutate'))
    const other = await newCertificates()
    running.secret.rotate(asFiles(other))
    await until(
      'the new one is shown',
      async () =>
        (await serialAt({ ...running.at('/mutate'), caBundle: other['ca.crt'] }).catch(() => before)) !== before,
      20_000,
    )
    await expect(serialAt(running.at('/mutate'))).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  })
})

describe('what cannot be used', () => {
  it.each([
    ['half a certificate', (set: CertificateSet) => ({ ...set, 'tls.crt': set['tls.crt'].slice(0, 300) })],
    [
      'the key of another certificate',
      (_: CertificateSet, other: CertificateSet) => ({ ...other, 'tls.crt': _['tls.crt'] }),
    ],
    ['no key', ({ 'tls.key': _, ...set }: CertificateSet) => set],
    ['empty files', (set: CertificateSet) => ({ ...set, 'tls.crt': '', 'tls.key': '' })],
  ])('%s is refused once, the old one stays, and a good pair is used again', async (_what, broken) => {
    const old = await newCertificates()
    const running = await started(old)
    const before = await serialAt(running.at('/mutate'))
    running.secret.rotate(asFiles(broken(old, await newCertificates())))
    await until('it is refused', async () => (await running.metric(FAILED)) === 1, 20_000)
    expect(await serialAt(running.at('/mutate'))).toBe(before)
    expect((await running.health('/readyz')).status).toBe(200)
    const next = await nextSet(old, { days: 30, nowMs: Date.now() })
    running.caBundle = next['ca.crt']
    running.secret.rotate(asFiles(next))
    await until('the next is used', async () => (await serialAt(running.at('/mutate'))) !== before, 20_000)
    expect(await running.metric(FAILED)).toBe(1)
    expect(running.output).not.toContain('PRIVATE')
  })
})

const FAILED = 'forbear_webhook_certificate_loads_total{result="failed"}'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

describe.skipIf(!hasOpenssl)('a pair of cert-manager', () => {
  it('with an RSA key of PKCS #1 and a chain is shown whole', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'forbear-chain-'))
    const at = (name: string) => join(dir, name)
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
    const request = (name: string, ...more: string[]) =>
      openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', at(`${name}.key`), '-subj', `/CN=${name}`, ...more)
    const sign = (name: string, by: string, extension: string) => {
      writeFileSync(at(`${name}.ext`), extension)
      const issuer = ['-CA', at(`${by}.crt`), '-CAkey', at(`${by}.key`), '-CAcreateserial', '-days', '2']
      openssl(
        'x509',
        '-req',
        '-in',
        at(`${name}.csr`),
        ...issuer,
        '-extfile',
        at(`${name}.ext`),
        '-out',
        at(`${name}.crt`),
      )
    }
    request('root', '-x509', '-days', '2', '-out', at('root.crt'))
    for (const name of ['middle', 'leaf']) request(name, '-out', at(`${name}.csr`))
    sign('middle', 'root', 'basicConstraints=critical,CA:TRUE')
    sign('leaf', 'middle', `subjectAltName=DNS:${SERVICE}.${NAMESPACE}.svc`)
    openssl('rsa', '-traditional', '-in', at('leaf.key'), '-out', at('pkcs1.key'))
    const text = (name: string) => readFileSync(at(name), 'utf8')
    expect(text('pkcs1.key')).toContain('BEGIN RSA PRIVATE KEY')
    const set = {
      'ca.crt': text('root.crt'),
      'tls.crt': text('leaf.crt') + text('middle.crt'),
      'tls.key': text('pkcs1.key'),
    }
    rmSync(dir, { recursive: true })
    const running = await started(set)
    expect((await admit(running.at('/mutate'), { object: pod() })).patch).not.toEqual([])
  })
})

describe('a plain directory', () => {
  it('that is written file by file is used once both fit', async () => {
    const old = await newCertificates()
    const running = await started(old)
    const before = await serialAt(running.at('/mutate'))
    rmSync(join(running.secret.dir, '..data'))
    const next = await nextSet(old, { days: 30, nowMs: Date.now() })
    running.caBundle = next['ca.crt']
    for (const file of ['tls.crt', 'tls.key'] as const) rmSync(join(running.secret.dir, file), { force: true })
    writeFileSync(join(running.secret.dir, 'tls.crt'), next['tls.crt'])
    await until('half of it is refused', async () => (await running.metric(FAILED)) > 0, 20_000)
    expect(await serialAt(running.at('/mutate'))).toBe(before)
    writeFileSync(join(running.secret.dir, 'tls.key'), next['tls.key'])
    await until('both are used', async () => (await serialAt(running.at('/mutate'))) !== before, 20_000)
  })
})

describe('without a certificate', () => {
  it('it is alive, not ready, and begins to serve when one comes', async () => {
    const set = await newCertificates()
    webhook = await WebhookProcess.spawn({}, set['ca.crt'])
    const running = webhook
    await until('it is alive', async () => (await running.health('/livez').catch(() => null))?.status === 200)
    expect((await running.health('/readyz')).status).toBe(503)
    await expect(serialAt(running.at('/mutate'))).rejects.toThrow()
    running.secret.rotate(asFiles(set))
    await until('it is ready', async () => (await running.health('/readyz')).status === 200, 20_000)
    expect((await admit(running.at('/mutate'), { object: pod() })).patch).not.toEqual([])
  })
})
