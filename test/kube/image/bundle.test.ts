/** The one-file build behaves like the build of many files, where there is nothing but the file. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { COMMAND, portsAreFree } from '../../docs/shell.js'
import { temporary, toYaml, upstreamDoc } from '../../e2e/harness/policies.js'
import { test } from '../../e2e/harness/stage.js'
import { until } from '../../e2e/harness/time.js'
import { HAS_REDIS, RedisServer } from '../../support/redis-server.js'
import { admit } from '../webhook/support/api-server.js'
import { WebhookProcess } from '../webhook/support/webhook-process.js'
import { Bundled, say } from './bundled.js'

const bundled = new Bundled()
beforeAll(() => bundled.build())
afterAll(() => bundled.dispose())

const DEMO_PORTS = [15080, 15081, 15082, 15090, 15101]
const hasScript = spawnSync('script', ['--version']).status === 0

const GOOD = toYaml(upstreamDoc('payments', 'http://payments.shop:8080'))
const POD = 'apiVersion: v1\nkind: Pod\nmetadata: { name: shop }\nspec:\n  containers: [{ name: app, image: shop }]\n'
const BAD =
  'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: a }\nspec: { target: "x", retyr: {} }\n'

describe('the one-file build says what the other says to', () => {
  it.each<[string, readonly string[], string?]>([
    ['--version', ['--version']],
    ['--help', ['--help']],
    ['run --help', ['run', '--help']],
    ['run without policies', ['run']],
    ['run on a directory that is none', ['run', '--policies', 'nowhere']],
    ['a misspelt command', ['chekc']],
    ['check of a good file', ['check', '-'], GOOD],
    ['check of a bad file', ['check', '-'], BAD],
    ['check as JSON', ['check', '-', '--output', 'json'], BAD],
    ['check as SARIF', ['check', '-', '--output', 'sarif'], BAD],
    ['check of what is no YAML', ['check', '-'], '[section]\nkey = "value"\n'],
    ['explain --field', ['explain', '--field', 'retry.maxAttempts']],
    ['explain --code', ['explain', '--code', 'FB001']],
    ['schema', ['schema']],
    ['schema any', ['schema', 'any']],
    ['inject', ['inject', '-'], POD],
  ])('%s', (_, args, input) => {
    const one = say(bundled.command, args, bundled.dir, input)
    expect(one).toEqual(say(COMMAND, args, bundled.dir, input))
    expect(one.out + one.err).not.toBe('')
  })
})

test('the one-file build explains a call as the other does', async ({ stage }) => {
  const dir = await stage.policyDir({ 'a.yaml': GOOD })
  const args = ['explain', '--policies', dir.path, 'GET', 'http://payments.shop:8080/x']
  const one = say(bundled.command, args, bundled.dir)
  expect(one).toEqual(say(COMMAND, args, bundled.dir))
  expect([one.code, one.out]).toEqual([0, expect.stringContaining('payments')])
})

describe('the one-file build', () => {
  it('is one file, the licences of what is in it, and LevelDB for two kinds of machine', () => {
    const levels = ['arm64', 'x64'].map(machine => `leveldb-linux-${machine}.node`)
    expect(bundled.files).toEqual(['forbear.licenses.txt', 'forbear.mjs', ...levels])
    const licences = readFileSync(`${bundled.dir}/forbear.licenses.txt`, 'utf8')
    expect(licences).toMatch(/^undici [\d.]+ \(MIT\)$/m)
    expect(licences).toMatch(/^yaml [\d.]+ \(ISC\)$/m)
  })

  test('reloads in its own thread, serves metrics and tunnels a WebSocket', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const server = new WebSocketServer({ server: upstream.server })
    server.on('connection', peer => peer.on('message', data => peer.send(data)))
    const dir = await stage.configMapDir({ 'a.yaml': toYaml(upstreamDoc('payments', upstream.url)) })
    const sidecar = await stage.sidecar(dir, [], { cli: bundled.command })
    expect((await sidecar.call('/payments/x')).text).toBe('fine')

    await dir.swap({ 'a.yaml': toYaml(upstreamDoc('ledger', upstream.url)) })
    await until('the edit is in force', async () => (await sidecar.call('/ledger/x')).status === 200)
    expect((await sidecar.status()).generation).toBe(2)
    expect((await sidecar.metrics()).sum('forbear_policy_generation')).toBe(2)
    await dir.swap({ 'a.yaml': BAD })
    await until('the bad edit is told', async () => (await sidecar.status()).lastReloadError !== null)

    const app = new WebSocket(`ws://127.0.0.1:${sidecar.port}/ledger/chat`)
    const echoed = new Promise<string>(resolve => app.once('message', data => resolve(String(data))))
    app.once('open', () => app.send('hello'))
    expect(await echoed).toBe('hello')
    app.terminate()
    expect(sidecar.stderr).toBe('')
  })

  test.skipIf(!hasScript)('writes readable lines in a terminal', async ({ stage }) => {
    const dir = await stage.policyDir({ 'a.yaml': toYaml(upstreamDoc('payments', 'http://payments.shop')) })
    const flags = ['listen', 'admin', 'health'].map(name => `--${name} 127.0.0.1:0`)
    const line = `"${process.execPath}" "${bundled.command}" run --policies "${dir.path}" ${flags.join(' ')}`
    const terminal = spawn('script', ['-qec', line, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
    let text = ''
    terminal.stdout.on('data', chunk => {
      text += chunk
    })
    stage.later(async () => terminal.kill())
    await until('it is running', () => /INFO.*listening/.test(text))
    expect(text).not.toContain('"msg"')
    terminal.stdin.write('\x03')
    await once(terminal, 'close')
  })

  it('runs the demo on policies that it carries', async context => {
    if (!(await portsAreFree(...DEMO_PORTS))) context.skip('a port of the demo is taken')
    const temporary = mkdtempSync(join(bundled.dir, 'tmp-'))
    const demo = spawn(process.execPath, [bundled.command, 'demo', '--traffic'], { env: { TMPDIR: temporary } })
    const ended = once(demo, 'close')
    let text = ''
    for (const stream of [demo.stdout, demo.stderr])
      stream.on('data', chunk => {
        text += chunk
      })
    try {
      await until('a call went through', () => /"upstream":"flaky".*"outcome":"delivered"/.test(text), 15_000)
      expect(readdirSync(temporary)).toHaveLength(1)
      demo.kill('SIGINT')
      await ended
      expect([demo.exitCode, readdirSync(temporary)]).toEqual([0, []])
    } finally {
      demo.kill('SIGKILL')
    }
  })
})

describe('what few need is in the one file, too', () => {
  test('it parks calls in a directory, by LevelDB beside it, or says what is missing', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const store = await temporary()
    stage.later(() => rm(store, { recursive: true, force: true }))
    const parks = upstreamDoc('shop', upstream.url, { retry: { maxAttempts: 1 }, park: { store, accept: 'always' } })
    const dir = await stage.policyDir({ 'a.yaml': toYaml(parks) })
    const order = { method: 'POST', headers: { 'Idempotency-Key': 'k1' }, body: 'one' }
    const sidecar = await stage.sidecar(dir, [], { cli: bundled.command })
    expect((await sidecar.call('/shop/orders', order)).status).toBe(202)
    const alone = join(await temporary(), 'forbear.mjs')
    stage.later(() => rm(dirname(alone), { recursive: true, force: true }))
    copyFileSync(bundled.command, alone)
    const without = await stage.sidecar(dir, [], { cli: alone })
    expect((await without.call('/shop/orders', order)).status).toBe(503)
    const machine = `${process.platform}-${process.arch}`
    expect(JSON.stringify(await without.status())).toContain(`needs leveldb-${machine}.node beside the one file`)
  })

  test.skipIf(!HAS_REDIS)('it parks calls in a Redis', async ({ stage }) => {
    const redis = await RedisServer.start()
    stage.later(() => redis.close())
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const park = { store: redis.url, accept: 'always' }
    const document = upstreamDoc('shop', upstream.url, { retry: { maxAttempts: 1 }, park })
    const sidecar = await stage.sidecar([document], [], { cli: bundled.command })
    const order = { method: 'POST', headers: { 'Idempotency-Key': 'k1' }, body: 'one' }
    expect((await sidecar.call('/shop/orders', order)).status).toBe(202)
  })

  it('it makes certificates, and judges policies in a thread of its own', async () => {
    const webhook = await WebhookProcess.start([], bundled.command)
    try {
      const metadata = { name: 'p', namespace: 'shop', labels: { 'forbear.dev/policy': 'true' } }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'a.yaml': BAD } }
      const { status } = await admit(webhook.at('/validate-policy'), { resource: 'configmaps', object })
      expect(status?.message).toContain('retyr')
    } finally {
      await webhook.stop()
    }
    expect(say(bundled.command, ['certs', 'init', '--namespace', 'n', '--output', 'yaml'], bundled.dir).out).toContain(
      'kind: Secret',
    )
  })
})
