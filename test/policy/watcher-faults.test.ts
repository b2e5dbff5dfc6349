/** What may stand in place of a good policy, read by the real loader. */
import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import type { KnownDocuments } from '../../src/policy/known-documents.js'
import { type Load, loadHere } from '../../src/policy/load-request.js'
import { upstream } from './set.js'
import { configMapDir, temporaryDirectory } from './support/config-map.js'
import { eventually, FastClock, loadText, watching } from './support/watching.js'

const FILE = 'shop.yaml'
const GOOD = upstream('', 'shop')
const BETTER = upstream('timeouts: { total: 5s }', 'shop')

/** The loader of the thread, here. */
function loading(): Load {
  let known: KnownDocuments = new Map()
  return async request => {
    const loaded = loadHere(request, () => known)
    known = loaded.known ?? known
    return loaded.answer
  }
}

/** As a user who is nobody here, for the superuser may read everything. */
function asNobody(): Load {
  const load = loading()
  const { geteuid, seteuid } = process
  return (request, signal) => {
    if (geteuid?.() !== 0) return load(request, signal)
    seteuid?.(65_534)
    try {
      // Reads before it returns.
      return load(request, signal)
    } finally {
      seteuid?.(0)
    }
  }
}

type Fault = readonly [what: string, make: (path: string, dir: string) => Promise<unknown>, reason: RegExp]

const FAULTS: readonly Fault[] = [
  ['no file', path => unlink(path), /no file that ends in \.yaml/],
  ['zero bytes', path => truncate(path), /is empty/],
  ['white space', path => writeFile(path, ' \n\n'), /is empty/],
  ['only comments', path => writeFile(path, '# later\n---\n# and later\n'), /holds only comments/],
  ['half a document', path => writeFile(path, GOOD.slice(0, GOOD.indexOf('name: shop'))), /shop\.yaml:\d+:\d+/],
  ['what the schema refuses', path => writeFile(path, upstream('timeouts: { total: 5 }', 'shop')), /timeouts\.total/],
  ['a directory', path => unlink(path).then(() => mkdir(path)), /is a directory, not a file/],
  ['a link to nowhere', path => unlink(path).then(() => symlink('nowhere', path)), /it does not exist/],
  ['a link to itself', path => unlink(path).then(() => symlink(FILE, path)), /links lead round in a circle/],
  ['a FIFO', path => unlink(path).then(() => execFileSync('mkfifo', [path])), /is not a regular file/],
  ['a device', path => unlink(path).then(() => symlink('/dev/zero', path)), /is not a regular file/],
  ['no UTF-8', path => writeFile(path, Buffer.from('a: \xff\xfe', 'latin1')), /is not UTF-8/],
  ['more than a MiB', path => writeFile(path, `${GOOD}\n#${'x'.repeat(1_048_576)}`), /at most 1048576 are read/],
  ['no directory', (_path, dir) => rm(dir, { recursive: true }), /does not exist/],
  [
    'a file in place of the directory',
    (_path, dir) => rm(dir, { recursive: true }).then(() => writeFile(dir, GOOD)),
    /is not a directory/,
  ],
]

async function directory(): Promise<{ dir: string; path: string }> {
  const dir = join(await temporaryDirectory(), 'policies')
  await mkdir(dir)
  await chmod(join(dir, '..'), 0o755)
  await writeFile(join(dir, FILE), GOOD)
  return { dir, path: join(dir, FILE) }
}

describe('an edit that leaves', () => {
  test.for(FAULTS)(
    '%s keeps the old policy, is told once with the reason, and a good one follows',
    async ([, make, reason]) => {
      const { dir, path } = await directory()
      const { applied, events, inForce } = watching(dir, { clock: new FastClock(), load: loading() })
      await writeFile(path, BETTER)
      await inForce()
      await make(path, dir)
      await eventually(() => events.some(event => reason.test(event.messages.join('\n'))))
      // So that the poll has come round.
      await new Promise(resolve => setTimeout(resolve, 20))
      const told = events.filter(event => reason.test(event.messages.join('\n')))
      expect([applied.length, told.length]).toEqual([1, 1])
      expect(told[0]).toMatchObject({ result: 'rejected', generation: 2 })
      await rm(dir, { recursive: true, force: true })
      await mkdir(dir)
      await writeFile(path, GOOD)
      await inForce()
      expect(events.at(-1)).toMatchObject({ result: 'applied', generation: 3, messages: [] })
    },
  )

  test('what may not be read keeps the old policy, and a good one follows', async () => {
    const { dir, path } = await directory()
    const { applied, events, inForce } = watching(dir, { clock: new FastClock(), load: asNobody() })
    // By this thread, for the user that the loader becomes is that of the whole process meanwhile.
    writeFileSync(path, BETTER)
    await inForce()
    chmodSync(path, 0)
    await eventually(() => events.some(event => event.messages.join('\n').includes('permission denied')))
    expect([applied.length, events.at(-1)?.result]).toEqual([1, 'rejected'])
    chmodSync(path, 0o644)
    writeFileSync(path, GOOD)
    await inForce()
    expect(events.at(-1)).toMatchObject({ result: 'applied', generation: 3 })
  })

  test('one file of two broken keeps all of the old ones', async () => {
    const { dir } = await directory()
    await writeFile(join(dir, 'ledger.yaml'), upstream('', 'ledger'))
    const { applied, results } = watching(dir, { load: loading() })
    await writeFile(join(dir, FILE), BETTER)
    await writeFile(join(dir, 'ledger.yaml'), '')
    await eventually(() => results().length === 1)
    expect([applied, results()]).toEqual([[], ['rejected']])
  })
})

describe('a mount', () => {
  test('that is replaced by another directory under its name is followed, its later edits too', async () => {
    const { dir, path } = await directory()
    const { inForce, results } = watching(dir, { clock: new FastClock(), load: loading() })
    const next = `${dir}.next`
    await mkdir(next)
    await writeFile(join(next, FILE), BETTER)
    await rename(dir, `${dir}.old`)
    await rename(next, dir)
    await inForce()
    await writeFile(path, upstream('timeouts: { total: 6s }', 'shop'))
    await inForce()
    expect(results().filter(result => result === 'applied')).toHaveLength(2)
  })

  test('whose link ..data leads nowhere keeps the old policy until it does again', async () => {
    const map = await configMapDir({ [FILE]: GOOD })
    const { inForce, applied, results } = watching(map.path, { load: loading() })
    await unlink(join(map.path, '..data'))
    await symlink('..gone', join(map.path, '..data'))
    await eventually(() => results().length === 1)
    expect([applied, results()]).toEqual([[], ['rejected']])
    await unlink(join(map.path, '..data'))
    await map.write({ [FILE]: BETTER })
    await inForce()
    expect(results().at(-1)).toBe('applied')
  })
})

describe('a loading thread', () => {
  /** Loads in a thread that does what the code says first. */
  const inThread =
    (code: string): Load =>
    (request, signal) =>
      new Promise((resolve, reject) => {
        const options = { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 4 } }
        const worker = new Worker(`${code}; require('node:worker_threads').parentPort.postMessage(1)`, options)
        signal.addEventListener('abort', () => void worker.terminate())
        worker.once('message', () => resolve(loadText(request)))
        worker.once('error', reject)
        worker.once('exit', code => reject(new Error(`ended with ${code}`)))
      })

  test.for([
    ['runs out of memory', 'const all = []; for (;;) all.push(new Array(1000).fill(all.length))', /memory/],
    ['throws', 'throw new Error("broken thread")', /broken thread/],
    ['ends itself', 'process.exit(3)', /ended with 3/],
  ] as const)('that %s is a rejection, and the next edit is applied', async ([, code, reason]) => {
    const { dir, path } = await directory()
    let first = true
    const load: Load = (request, signal) => {
      const broken = first
      first = false
      return inThread(broken ? code : '')(request, signal)
    }
    const { events, results, inForce } = watching(dir, { load })
    await writeFile(path, 'two')
    await eventually(() => events.length === 1)
    expect(events[0]).toMatchObject({ result: 'rejected', messages: [expect.stringMatching(reason)] })
    await writeFile(path, 'three')
    await inForce()
    expect(results()).toEqual(['rejected', 'applied'])
  })
})
