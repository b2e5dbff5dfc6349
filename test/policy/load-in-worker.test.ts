import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compile } from '../telemetry/compiled.js'
import { temporaryDirectory } from './support/config-map.js'

let compiled: Awaited<ReturnType<typeof compile>>

beforeAll(async () => {
  compiled = await compile('src/policy/load-in-worker.ts', 'src/policy/load-worker.ts')
})

afterAll(() => compiled.remove())

/** Runs statements in a process that loads policies by its own thread; resolves with the JSON it prints. */
async function inProcess(policies: string, statements: string): Promise<unknown> {
  const dir = await temporaryDirectory()
  await writeFile(join(dir, 'shop.yaml'), policies)
  const script = await compiled.script(
    'load.mjs',
    `import { WorkerLoader } from './src/policy/load-in-worker.js'
const { load } = new WorkerLoader()
const ask = (knownHash, signal = new AbortController().signal) =>
  load({ dir: process.argv[2], mode: 'all', generation: 7, knownHash }, signal)
const tell = value => console.log(JSON.stringify(value))
${statements}`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, [script, dir])
  return JSON.parse(stdout)
}

const POLICIES = `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: shop }
spec:
  target: http://shop.example.com
  routes: [{ name: order, match: { methods: [POST], path: /orders } }]
`

test('the thread hands over a snapshot that is frozen and whole', async () => {
  const told = await inProcess(
    POLICIES,
    `const { kind, snapshot, messages } = await ask('')
const shop = snapshot.upstreams.get('shop')
const parts = [snapshot, shop, shop.target, shop.policy.retry.retryOn, shop.routes, shop.routes[0].match.path.segments]
tell({
  kind, messages, generation: snapshot.generation,
  frozen: parts.every(Object.isFrozen),
  methods: [...shop.routes[0].match.methods],
  noClock: shop.policy.timeouts.responseMs === Infinity,
})`,
  )
  expect(told).toEqual({
    kind: 'whole',
    messages: [],
    generation: 7,
    frozen: true,
    methods: ['POST'],
    noClock: true,
  })
})

test('the text in force is not parsed again', async () => {
  const told = await inProcess(
    POLICIES,
    `const { snapshot } = await ask('')
tell(await ask(snapshot.hash))`,
  )
  expect(told).toEqual({ kind: 'same' })
})

test('what cannot be used comes back as messages', async () => {
  const told = await inProcess(POLICIES.replace('target:', 'tarket:'), "tell(await ask(''))")
  expect(told).toMatchObject({ kind: 'unusable', messages: [expect.stringMatching(/shop\.yaml:5:\d+ {2}.*tarket/)] })
})

test('after an edit only the document that was edited is parsed, and the other upstreams stay the same objects', async () => {
  const bank = POLICIES.replace('shop }', 'bank }').replace('shop.', 'bank.')
  const told = await inProcess(
    `${POLICIES}---\n${bank}`,
    `const { writeFileSync } = await import('node:fs')
const { loadAtStart } = await import('./src/policy/load-in-worker.js')
const { loaded, load: next } = loadAtStart(process.argv[2], 'all')
const edit = async (from, to, mode = 'all') => {
  text = text.replace(from, to)
  writeFileSync(process.argv[2] + '/shop.yaml', text)
  return next({ dir: process.argv[2], mode, generation: 2, knownHash: '' }, new AbortController().signal)
}
let text = ${JSON.stringify(`${POLICIES}---
${bank}`)}
const first = loaded.snapshot
const edited = (await edit('/orders', '/order')).snapshot
const broken = await edit('target: http://bank', 'tarket: http://bank')
const { snapshot: mended, documentsParsed } = await edit('tarket', 'target')
const same = (name, ...snapshots) => snapshots.every(one => one.upstreams.get(name) === first.upstreams.get(name))
tell({
  bank: same('bank', edited, mended), shop: same('shop', edited),
  path: edited.upstreams.get('shop').routes[0].match.path.segments,
  broken: [broken.kind, broken.documentsParsed], documentsParsed,
})`,
  )
  expect(told).toEqual({ bank: true, shop: false, path: ['order'], broken: ['unusable', 1], documentsParsed: 1 })
})

test('a thread that ends without an answer is a rejection, and the process can end', async () => {
  const told = await inProcess(
    POLICIES,
    `const ending = new AbortController()
const asked = ask('', ending.signal)
ending.abort()
tell(await asked.catch(error => error.message))`,
  )
  expect(told).toMatch(/^the loading thread ended with code \d and no answer$/)
})

test.skipIf(process.platform !== 'linux')(
  'what one load left to the next is not in memory any more after it (needs /proc)',
  { timeout: 60_000 },
  async () => {
    const grown = await inProcess(
      `${POLICIES}x-note: ${'x'.repeat(900_000)}\n`,
      `const { readdirSync, promises } = await import('node:fs')
const { setTimeout: sleep } = await import('node:timers/promises')
const threads = () => readdirSync('/proc/self/task').length
await promises.stat('.') // starts the threads that stay
const staying = threads()
const residentAfter = async loads => {
  for (let n = 0; n < loads; n++) {
    await ask('')
    while (threads() > staying) await sleep(10)
  }
  return process.memoryUsage.rss() / 2 ** 20
}
const before = await residentAfter(4)
tell((await residentAfter(20)) - before)`,
    )
    // 20 loads, of which each leaves twice its 0.9 MB of text to the next.
    expect(grown).toBeLessThan(18)
  },
)
