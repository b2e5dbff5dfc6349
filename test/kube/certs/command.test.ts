/** `forbear certs`, as built. */
import { execFile, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forbear-certs-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function certs(args: readonly string[], stdin = ''): Promise<Ran> {
  return new Promise(resolve => {
    const child = execFile(process.execPath, ['dist/cmd/forbear.js', 'certs', ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
    child.stdin?.on('error', () => undefined).end(stdin)
  })
}

const INIT = ['init', '--namespace', 'forbear-system']
const at = (name: string) => join(dir, 'certs', name)
const serial = (pem: string) => new X509Certificate(pem).serialNumber
const openssl = spawnSync('openssl', ['version']).status === 0

describe('certs init --dir', () => {
  it('writes three files, the key for its owner alone, and prints what is left to do', async () => {
    const { code, stdout, stderr } = await certs([...INIT, '--dir', join(dir, 'certs')])
    expect(code).toBe(0)
    expect(['ca.crt', 'tls.crt', 'tls.key'].map(name => (statSync(at(name)).mode & 0o777).toString(8))).toEqual([
      '644',
      '644',
      '600',
    ])
    const caBundle = readFileSync(at('ca.crt')).toString('base64')
    expect(stderr).toContain(`caBundle: ${caBundle}\n`)
    expect(stdout).toContain(`"caBundle":"${caBundle}"`)
    expect(stdout).toMatch(/^kubectl patch mutatingwebhookconfiguration forbear-webhook -p '\{/m)
    expect(stdout).toMatch(/^kubectl patch validatingwebhookconfiguration forbear-webhook -p '\{/m)
    expect(stdout).toMatch(
      /^kubectl create secret generic forbear-webhook-tls -n forbear-system --type=kubernetes\.io\/tls /m,
    )
    expect(stdout + stderr).not.toContain('PRIVATE')
  })

  it('keeps what is there', async () => {
    await certs([...INIT, '--dir', join(dir, 'certs')])
    const before = readFileSync(at('tls.key'), 'utf8')
    const { code, stderr } = await certs([...INIT, '--dir', join(dir, 'certs')])
    expect([code, stderr]).toEqual([
      1,
      `forbear: ${at('ca.crt')} exists; forbear certs rotate replaces certificates in use\n`,
    ])
    expect(readFileSync(at('tls.key'), 'utf8')).toBe(before)
  })

  it.skipIf(!openssl)('makes what OpenSSL takes for a chain of a TLS server, with a path length of 0', async () => {
    await certs([...INIT, '--dir', join(dir, 'certs'), '--days', '7'])
    const verified = spawnSync('openssl', [
      'verify',
      '-purpose',
      'sslserver',
      '-x509_strict',
      '-CAfile',
      at('ca.crt'),
      at('tls.crt'),
    ])
    expect(String(verified.stdout)).toBe(`${at('tls.crt')}: OK\n`)
    const shown = String(spawnSync('openssl', ['x509', '-in', at('ca.crt'), '-noout', '-text']).stdout)
    expect(shown).toContain('CA:TRUE, pathlen:0')
  })
})

describe('certs rotate --dir', () => {
  it('makes new ones for the same names, and trusts the old authority too', async () => {
    await certs([...INIT, '--service', 'hook', '--dir', join(dir, 'certs')])
    const before = readFileSync(at('tls.crt'), 'utf8')
    const { code, stdout } = await certs(['rotate', '--namespace', 'forbear-system', '--dir', join(dir, 'certs')])
    expect(code).toBe(0)
    const after = readFileSync(at('tls.crt'), 'utf8')
    expect(serial(after)).not.toBe(serial(before))
    expect(new X509Certificate(after).subjectAltName).toContain('DNS:hook.forbear-system.svc,')
    expect(readFileSync(at('ca.crt'), 'utf8').match(/BEGIN/g)).toHaveLength(2)
    expect((statSync(at('tls.key')).mode & 0o777).toString(8)).toBe('600')
    // Trust comes before the certificate.
    expect(stdout.indexOf('kubectl patch')).toBeLessThan(stdout.indexOf('kubectl create secret'))
  })

  it('says in one line when there is nothing to rotate', async () => {
    const { code, stdout, stderr } = await certs(['rotate', '--namespace', 'a', '--dir', dir])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^forbear: .* cannot be rotated: ENOENT.*ca\.crt'\n$/)
  })
})

describe('a Secret', () => {
  it('is printed by init, and by rotate from what kubectl prints, with its labels and without the old key', async () => {
    const { stdout } = await certs([...INIT, '--output', 'yaml'])
    const secret = parse(stdout)
    expect(secret).toMatchObject({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'forbear-webhook-tls', namespace: 'forbear-system' },
      type: 'kubernetes.io/tls',
    })
    const metadata = {
      ...secret.metadata,
      labels: { team: 'on' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secret.data['tls.key'], owner: 'ada' },
      resourceVersion: '7',
      uid: 'x',
    }
    const live = JSON.stringify({ ...secret, metadata })
    for (const args of [
      ['--secret', '-'],
      ['--secret', join(dir, 'secret.json')],
    ]) {
      writeFileSync(join(dir, 'secret.json'), live)
      const rotated = await certs(['rotate', ...args], live)
      const next = parse(rotated.stdout)
      expect(next.metadata).toEqual({ ...secret.metadata, labels: { team: 'on' }, annotations: { owner: 'ada' } })
      expect(rotated.stdout).not.toContain(secret.data['tls.key'])
      expect(rotated.stdout).toContain('team: "on"')
      expect(Buffer.from(next.data['ca.crt'], 'base64').toString().match(/BEGIN/g)).toHaveLength(2)
      expect(rotated.stderr).toContain(next.data['ca.crt'])
    }
  })

  it.each([
    ['nothing', '', 'there is no Secret in it'],
    ['another kind', 'kind: ConfigMap', 'there is no Secret in it'],
    ['broken YAML', 'kind: [', 'there is no Secret in it'],
    ['a Secret without a certificate', 'kind: Secret\nmetadata: {}\ndata: {}', 'the Secret has no ca.crt'],
  ])('that is %s is told in one line', async (_what, text, part) => {
    const { code, stdout, stderr } = await certs(['rotate', '--secret', '-'], text)
    expect([code, stdout, stderr]).toEqual([1, '', `forbear: the Secret cannot be rotated: ${part}\n`])
  })
})

it.each([
  [['init', '--dir', 'x'], /required option '--namespace/],
  [['init', '--namespace', 'a'], /either --dir <dir> or --output yaml/],
  [['init', '--namespace', 'A.b', '--dir', 'x'], /no name of Kubernetes/],
  [['init', '--namespace', 'a', '--dir', 'x', '--output', 'yaml'], /cannot be used with/],
  [['rotate', '--namespace', 'a'], /either --dir <dir> or --secret/],
  [['init', '--namespace', 'a', '--output', 'yaml', '--days', '0'], /whole number from 1/],
  [['renew'], /unknown command 'renew'/],
])('certs %j is a mistake of usage', async (args, text) => {
  const { code, stdout, stderr } = await certs(args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(text)
})

it('its help shows examples', async () => {
  const { code, stdout } = await certs(['init', '--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('$ forbear certs init --namespace forbear-system --dir ./certs')
})
