/** F133 pinojs/pino#2054, #1705 */
import { describe, expect } from 'vitest'
import { test } from '../e2e/harness/stage.js'
import { endingSidecar, linesWith, logLines, readSlowly } from './support/ending-sidecar.js'

/** Together 1 MB. */
const CALLS = 750

describe.concurrent('F133 the last lines of a sidecar whose output is read slowly', () => {
  for (const end of ['throw', 'reject'] as const) {
    test(`after 1 MB of others and a crash by ${end} are all there, the fatal one last, and the exit code is 1`, async ({
      stage,
    }) => {
      const sidecar = await endingSidecar(stage, end)
      sidecar.child.stdout?.pause()
      await logLines(sidecar, CALLS)
      sidecar.signal('SIGUSR2')
      readSlowly(sidecar)
      expect((await sidecar.exitWithin(20_000)).code).toBe(1)
      expect(linesWith(sidecar, 'request')).toHaveLength(CALLS)
      expect(sidecar.logs.at(-1)).toMatchObject({ level: 50, msg: 'crashed', error: 'the very last thing' })
      expect(sidecar.stderr).toContain('Error: the very last thing')
    })
  }

  test('after 1 MB of others and a drain are all there, and the exit code is 0', async ({ stage }) => {
    const sidecar = await endingSidecar(stage, '')
    sidecar.child.stdout?.pause()
    await logLines(sidecar, CALLS)
    sidecar.signal('SIGTERM')
    readSlowly(sidecar)
    expect((await sidecar.exitWithin(20_000)).code).toBe(0)
    expect(linesWith(sidecar, 'request')).toHaveLength(CALLS)
    expect(String(sidecar.logs.at(-1)?.['msg'])).toMatch(/draining/)
  })
})

describe.concurrent('F133 an output that nobody reads', () => {
  test('keeps the proxy from nothing, and loses lines that are counted once somebody reads again', async ({
    stage,
  }) => {
    const sidecar = await endingSidecar(stage, '')
    sidecar.child.stdout?.pause()
    // More than is kept for a reader that is behind.
    await logLines(sidecar, 5 * CALLS)
    expect((await sidecar.call('/u/still')).status).toBe(200)
    expect(await sidecar.health('/livez')).toBe(200)
    sidecar.child.stdout?.resume()
    await sidecar.admin('/reload', { method: 'POST' })
    await sidecar.accessLine('/u/still')
    sidecar.signal('SIGINT')
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
    const lost = sidecar.logs.filter(line => /log lines were lost/.test(String(line['msg'])))
    const counted = lost.reduce((sum, line) => sum + Number(line['lines']), 0)
    expect(counted).toBeGreaterThan(0)
    expect(linesWith(sidecar, 'request').length + counted).toBe(5 * CALLS + 1)
  })

  for (const [how, signal, code] of [
    ['a crash', 'SIGUSR2', 1],
    ['a drain', 'SIGTERM', 0],
  ] as const) {
    test(`holds up the end by ${how} for a few seconds and no longer`, async ({ stage }) => {
      const sidecar = await endingSidecar(stage, 'throw')
      sidecar.child.stdout?.pause()
      await logLines(sidecar, CALLS)
      sidecar.signal(signal)
      // `close` comes when the output is read to its end; the process itself must be gone before.
      const exited = new Promise<number | null>(resolve => sidecar.child.once('exit', resolve))
      expect(await exited).toBe(code)
      sidecar.child.stdout?.resume()
      await sidecar.exitWithin(5_000)
    })
  }
})
