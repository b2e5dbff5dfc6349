/** F134 pinojs/pino#1400 */
import { describe, expect } from 'vitest'
import { test } from '../e2e/harness/stage.js'
import { endingSidecar, linesWith } from './support/ending-sidecar.js'

/** `exec` keeps the process id. */
const withOutput = (to: string) => ['bash', '-c', `exec "$0" "$@" >${to}`]

describe.concurrent('F134 an error that ends the sidecar', () => {
  for (const end of ['throw', 'reject'] as const) {
    test(`by ${end} survives a handler of the exit that logs, and so does its exit code`, async ({ stage }) => {
      const sidecar = await endingSidecar(stage, `${end}+log`)
      await sidecar.call('/u/x')
      sidecar.signal('SIGUSR2')
      expect((await sidecar.exitWithin(15_000)).code).toBe(1)
      expect(linesWith(sidecar, 'crashed')).toEqual([expect.objectContaining({ error: 'the very last thing' })])
      expect(linesWith(sidecar, 'from the exit handler')).toHaveLength(1)
      expect(linesWith(sidecar, 'request')).toHaveLength(1)
      expect(sidecar.stderr).toContain('Error: the very last thing')
      expect(sidecar.stderr).not.toContain('worker')
    })
  }

  test('is told before one that a handler of the exit throws', async ({ stage }) => {
    const sidecar = await endingSidecar(stage, 'throw+crash')
    sidecar.signal('SIGUSR2')
    expect((await sidecar.exitWithin(15_000)).code).not.toBe(0)
    expect(linesWith(sidecar, 'crashed')[0]).toMatchObject({ error: 'the very last thing' })
    expect(sidecar.stderr.indexOf('the very last thing')).toBeGreaterThan(-1)
  })

  test('is on stderr and in the exit code where the log cannot be written: a full disk', async ({ stage }) => {
    const sidecar = await endingSidecar(stage, 'throw', withOutput('/dev/full'))
    expect((await sidecar.call('/u/x')).status).toBe(200)
    sidecar.signal('SIGUSR2')
    expect((await sidecar.exitWithin(15_000)).code).toBe(1)
    expect(sidecar.stderr).toContain('Error: the very last thing')
    expect(sidecar.stderr).not.toContain('ENOSPC')
  })

  test('is on stderr and in the exit code where the reader of the log has gone', async ({ stage }) => {
    const sidecar = await endingSidecar(stage, 'throw', withOutput(' >(exec true)'))
    expect((await sidecar.call('/u/x')).status).toBe(200)
    sidecar.signal('SIGUSR2')
    expect((await sidecar.exitWithin(15_000)).code).toBe(1)
    expect(sidecar.stderr).toContain('Error: the very last thing')
    expect(sidecar.stderr).not.toContain('EPIPE')
  })

  test('by process.exit keeps its code, and what was logged is written', async ({ stage }) => {
    const sidecar = await endingSidecar(stage, 'exit+log')
    await sidecar.call('/u/x')
    sidecar.signal('SIGUSR2')
    expect((await sidecar.exitWithin(15_000)).code).toBe(7)
    expect(linesWith(sidecar, 'request')).toHaveLength(1)
    expect(linesWith(sidecar, 'from the exit handler')).toEqual([expect.objectContaining({ code: 7 })])
    expect(sidecar.stderr).toBe('')
  })
})
