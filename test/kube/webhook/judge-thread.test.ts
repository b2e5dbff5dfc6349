/** The thread that judges, with work that kills it, keeps it busy or is merely much. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compile } from '../../telemetry/compiled.js'

let compiled: Awaited<ReturnType<typeof compile>>

beforeAll(async () => {
  compiled = await compile('src/kube/webhook/judge-thread.ts', 'src/clock/system-clock.ts')
  // Files are orders; the verdict counts what this thread has judged.
  await writeFile(
    join(compiled.directory, 'src/kube/webhook/judge-worker.js'),
    `import { parentPort } from 'node:worker_threads'
let judged = 0
parentPort.on('message', files => {
  if (files.has('die')) process.exit(3)
  if (files.has('throw')) throw new Error('no such policy')
  while (files.has('hang'));
  parentPort.postMessage({ judged: ++judged })
})`,
  )
})

afterAll(() => compiled.remove())

/** Runs statements in a process with a `JudgeThread`; resolves with what they `tell`. */
async function told(statements: string): Promise<unknown> {
  const script = await compiled.script(
    'judge.mjs',
    `import { JudgeThread } from './src/kube/webhook/judge-thread.js'
import { SystemClock } from './src/clock/system-clock.js'
const thread = new JudgeThread(new SystemClock())
const ask = (what, ms = 60_000) =>
  thread.judge(new Map([[what, '']]), AbortSignal.timeout(ms)).then(({ judged }) => judged, error => error.name + ': ' + error.message)
const alive = setInterval(() => {}, 1000)
const tell = value => console.log(JSON.stringify(value))
${statements}
clearInterval(alive)`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 25_000 })
  return JSON.parse(stdout)
}

it('is one and the same for sets that come together', async () => {
  expect(await told(`tell(await Promise.all([ask('a'), ask('b'), ask('c')]))`)).toEqual([1, 2, 3])
})

it('that dies takes its set along, and another begins with the next', async () => {
  const outcomes = await told(
    `tell([await ask('a'), await ask('die'), await ask('b'), await ask('throw'), await ask('c')])`,
  )
  expect(outcomes).toEqual([1, 'Error: the checking thread ended with code 3', 1, 'Error: no such policy', 1])
})

it('that is stuck is ended when the time of its set is over; whoever waits behind it has a time of its own', async () => {
  const outcomes = await told(`tell(await Promise.all([ask('hang', 600), ask('late', 100), ask('a')]))`)
  const late = 'TimeoutError: The operation was aborted due to timeout'
  expect(outcomes).toEqual([late, late, 1])
})

it('has a line that is not endless', async () => {
  const outcomes = (await told(`tell(await Promise.all(Array.from({ length: 300 }, () => ask('a'))))`)) as unknown[]
  expect(outcomes.slice(0, 256)).toEqual(Array.from({ length: 256 }, (_, n) => n + 1))
  expect(new Set(outcomes.slice(256))).toEqual(new Set(['Error: too many policies wait to be checked']))
})

it('keeps no process from ending', async () => {
  expect(await told(`tell(await ask('a'))`)).toBe(1)
})
