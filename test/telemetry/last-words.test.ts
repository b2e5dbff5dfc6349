import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from './compiled.js'

let compiled: Awaited<ReturnType<typeof compile>>
let script: string

/** Logs 1 MB, then ends in the way its argument says. */
const CHILD = `
  import { createLogSink } from './src/telemetry/log.js'
  import { keepLastWords } from './src/telemetry/last-words.js'
  const sink = createLogSink({ level: 'info', accessLog: 'all', pretty: false })
  keepLastWords(sink)
  const end = process.argv[2]
  const request = {
    type: 'request-finished', upstream: 'payments', route: null, method: 'GET', path: '/' + 'x'.repeat(900), status: 200,
    outcome: 'delivered', denied: null, attempts: 1, hedges: 0, polls: 0, durationMs: 1, headMs: 1, waitedMs: 0, responseBytes: 1, generation: 1, traceId: null,
  }
  for (let n = 0; n < 1000; n += 1) sink.emit({ ...request, generation: n })
  if (end === 'throw') setTimeout(() => { throw new Error('the very last thing') }, 1)
  if (end === 'reject') Promise.reject(new Error('the very last thing'))
  if (end === 'exit') { sink.log.info('drained'); process.exit(0) }
  if (end === 'log-on-exit') { process.on('exit', () => sink.log.info('from the exit handler')); process.exit(7) }
  if (end === 'live') {
    // Proof that timers still turn while nobody reads: told on the IPC channel.
    setTimeout(() => { for (let n = 0; n < 20000; n += 1) sink.emit(request); process.send('alive') }, 50)
    process.on('message', () => { sink.log.info('last'); process.exit(0) })
  }
`

beforeAll(async () => {
  compiled = await compile('src/telemetry/last-words.ts')
  script = await compiled.script('child.js', CHILD)
})
afterAll(() => compiled.remove())

const READER = `
  let text = ''
  process.stdin.on('data', chunk => { text += chunk; process.stdin.pause(); setTimeout(() => process.stdin.resume(), 5) })
  process.stdin.on('end', () => process.stdout.write(text))
`

async function collect(child: ChildProcess) {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', chunk => (stdout += chunk))
  child.stderr?.on('data', chunk => (stderr += chunk))
  const [code] = await once(child, 'close')
  return {
    code,
    stderr,
    lines: stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
  }
}

/** `pipe`: a FIFO as a container runtime gives, with a reader that rests after every piece; `socket`: what spawn gives. */
function run(stdout: 'pipe' | 'socket', end: string) {
  if (stdout === 'socket') return collect(spawn(process.execPath, [script, end]))
  const shell = 'set -o pipefail; "$0" "$1" "$2" | "$0" -e "$3"'
  return collect(spawn('bash', ['-c', shell, process.execPath, script, end, READER]))
}

describe.each(['pipe', 'socket'] as const)('when standard output is a slow %s', stdout => {
  it.each(['throw', 'reject'])('a crash by %s leaves every line and the fatal one, and exits with 1', async end => {
    const { code, lines, stderr } = await run(stdout, end)
    expect(code).toBe(1)
    expect(stderr).toContain('the very last thing')
    expect(lines.slice(0, 1000).map(line => line.generation)).toEqual(Array.from({ length: 1000 }, (_, n) => n))
    expect(lines.at(-1)).toMatchObject({ level: 50, msg: 'crashed', error: 'the very last thing' })
    expect(lines.at(-1).stack).toContain('child.js')
  })

  it('an orderly exit leaves the last line', async () => {
    const { code, lines } = await run(stdout, 'exit')
    expect(code).toBe(0)
    expect(lines).toHaveLength(1001)
    expect(lines.at(-1)).toMatchObject({ msg: 'drained' })
  })

  it('a line from an exit handler is written and the exit code survives', async () => {
    const { code, lines, stderr } = await run(stdout, 'log-on-exit')
    expect(code).toBe(7)
    expect(stderr).toBe('')
    expect(lines.at(-1)).toMatchObject({ msg: 'from the exit handler' })
  })
})

describe('when nobody reads standard output', () => {
  it.each(['pipe', 'socket'])('the process goes on and still ends (%s)', async kind => {
    const child =
      kind === 'socket'
        ? spawn(process.execPath, [script, 'live'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
        : spawn('bash', ['-c', 'exec "$0" "$1" live > >(exec tail -f /dev/null)', process.execPath, script], {
            stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
            detached: true,
          })
    child.stdout?.pause()
    expect(await once(child, 'message')).toContain('alive')
    child.send('end')
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    // The silent reader belongs to the child's process group.
    if (kind === 'pipe' && child.pid !== undefined) process.kill(-child.pid)
  })

  it('a closed pipe neither crashes nor stops the process', async () => {
    const shell = '{ "$0" "$1" exit; echo "code $?" >&2; } | true'
    const child = spawn('bash', ['-c', shell, process.execPath, script], { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', chunk => (stderr += chunk))
    await once(child, 'close')
    expect(stderr).toBe('code 0\n')
  })
})
