/** The image, built from staged files and run as a cluster runs it. */
import { readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toYaml, upstreamDoc } from '../../e2e/harness/policies.js'
import { test } from '../../e2e/harness/stage.js'
import { until } from '../../e2e/harness/time.js'
import { Image, whyNoContainers } from './podman.js'

const why = whyNoContainers()
const image = new Image()

/** Twice the 2 s without a call after which it may go, and some for a busy machine; far from what SIGKILL would take. */
const STOP_MS = 8_000
const STOP_SECONDS = 25

describe.skipIf(why !== null)('the image', () => {
  beforeAll(() => image.build(), 120_000)
  afterAll(() => image.dispose(), 60_000)

  it('has at most 120 MB', () => {
    const { Size } = image.inspect()
    console.log(`image: ${(Size / 1e6).toFixed(1)} MB`)
    expect(Size).toBeLessThanOrEqual(120e6)
  })

  it('says what it is, starts without a shell, under a number, and is stopped by SIGTERM', () => {
    const { Labels, Config, Healthcheck } = image.inspect()
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(Labels['org.opencontainers.image.version']).toBe(version)
    expect(Object.keys(Labels)).toEqual(
      expect.arrayContaining(
        ['title', 'description', 'licenses', 'revision'].map(key => `org.opencontainers.image.${key}`),
      ),
    )
    expect(Config.User).toBe('65532:65532')
    expect(Config.Entrypoint).toEqual(['/usr/local/bin/node', '/app/forbear.mjs'])
    expect(Config.StopSignal).toBe('SIGTERM')
    expect(Healthcheck).toBeUndefined()
  })

  it('holds node, its libraries, the one file and LevelDB: nothing else to run, nothing of a user, nothing anybody may write', () => {
    const files = image
      .files()
      .filter(line => !/ (dev|proc|sys|run)\/| etc\/(hosts|hostname|resolv\.conf)$| \.dockerenv$/.test(line))
    const regular = files.filter(line => line.startsWith('-')).map(line => line.split(' ').at(-1) ?? '')
    const allowed =
      /^(usr\/local\/bin\/node|usr\/local\/LICENSE|app\/(forbear\.mjs|leveldb-linux-\w+\.node|licenses\.txt|LICENSE)|etc\/(passwd|group|nsswitch\.conf)|(usr\/)?lib(64)?\/.*\.so(\.\d+)*)$/
    expect(regular.filter(path => !allowed.test(path))).toEqual([])
    expect(regular).toEqual(expect.arrayContaining(['usr/local/bin/node', 'app/forbear.mjs']))
    expect(files.filter(line => !/^[-dlrwx]{10} 0\/0 /.test(line))).toEqual([])
    expect(files.filter(line => /^.(....w|.......w)/.test(line) && !line.startsWith('l'))).toEqual([])
  })

  it('is a command to hooks and to whoever runs one in it', () => {
    const { stdout } = image.run(['--version'], ['--entrypoint', 'forbear'])
    expect(stdout).toBe(image.run(['--version']).stdout)
    // As the hook of `inject` does.
    expect(image.run(['-p', '1'], ['--entrypoint', 'node']).stdout).toBe('1\n')
  })

  it('runs a line of Node that has long-term support', () => {
    expect(image.evaluate('console.log(process.release.lts)')).toMatch(/^[A-Z][a-z]+$/)
  })

  it('can write nowhere but to the memory that a runtime gives it', () => {
    const script = `for (const dir of ['/', '/app', '/etc', '/etc/forbear', '/usr/local/bin'])
      try { require('fs').writeFileSync(dir + '/x', ''); console.log(dir) } catch (error) { console.log(error.code) }`
    expect(new Set(image.evaluate(script).split('\n'))).toEqual(new Set(['EROFS']))
  })

  it('answers the other commands, the demo without a directory to write to included', () => {
    const bad = 'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: a }\nspec: {}\n'
    expect(image.run(['check', '-'], [], bad).status).toBe(1)
    expect(image.run(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const demo = image.start(['demo', '--traffic'], ['--network', 'none'])
    return until('the demo answers calls', () => demo.output.includes('"outcome":"delivered"'), 20_000)
  })

  test('runs without privileges, serves, and ends with 0 on SIGTERM', async ({ stage }) => {
    const dir = await stage.configMapDir({ 'a.yaml': toYaml(upstreamDoc('payments', 'http://127.0.0.1:9')) })
    await chmod(dir.path, 0o755)
    const container = image.start([], ['--network', 'none', '-v', `${dir.path}:/etc/forbear:ro`])
    await until('it is running', () => container.output.includes('policies applied'), 20_000)
    const status = readFileSync(`/proc/${container.state.Pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]
    expect(field('Uid')).toBe('65532\t65532\t65532\t65532')
    expect([field('CapEff'), field('CapPrm'), field('CapBnd')].map(Number)).toEqual([0, 0, 0])
    expect([field('NoNewPrivs'), field('Seccomp')]).toEqual(['1', '2'])
    const startedMs = performance.now()
    expect(container.stop(STOP_SECONDS)).toBe(0)
    expect(performance.now() - startedMs).toBeLessThan(STOP_MS)
  })

  test('is reached on loopback by a container beside it, and takes an edit of a read-only mount', async ({ stage }) => {
    // The app is its own upstream: nothing else is in this network.
    const upstream = toYaml(upstreamDoc('payments', 'http://127.0.0.1:9000'))
    const dir = await stage.configMapDir({ 'a.yaml': upstream })
    await chmod(dir.path, 0o755)
    const sidecar = image.start([], ['--network', 'none', '-v', `${dir.path}:/etc/forbear:ro`])
    await until('it is running', () => sidecar.output.includes('policies applied'), 20_000)
    const script = `require('http').createServer((_, res) => res.end('fine')).listen(9000)
      const call = name => fetch('http://127.0.0.1:15080/' + name).then(res => res.status, String)
      setInterval(async () => console.log(await call('payments'), await call('ledger')), 100)`
    const node = ['--entrypoint', '/usr/local/bin/node']
    const app = image.start(['-e', script], ['--network', `container:${sidecar.name}`, ...node])
    await until('the app has called', () => /^200 404$/m.test(app.output), 20_000)
    await dir.swap({ 'a.yaml': upstream, 'b.yaml': toYaml(upstreamDoc('ledger', 'http://127.0.0.1:9000')) })
    await until('the edit is in force', () => /^200 200$/m.test(app.output), 20_000)
    expect(app.output).not.toMatch(/^(?!200 (200|404)$)./m)
  })
})
