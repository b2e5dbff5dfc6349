import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogWriter } from '../../src/telemetry/log-writer.js'

let directory: string
const open: number[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'forbear-log-'))
})
afterEach(() => {
  for (const fd of open.splice(0)) closeSync(fd)
  rmSync(directory, { recursive: true })
})

function opened(path: string, flags: number): number {
  const fd = openSync(path, flags)
  open.push(fd)
  return fd
}

function file() {
  const path = join(directory, 'log')
  const fd = opened(path, constants.O_WRONLY | constants.O_CREAT)
  return { fd, text: () => readFileSync(path, 'utf8') }
}

/** A pipe whose reader reads only when told; `text` is all it has read. */
function pipe() {
  const path = join(directory, 'fifo')
  execFileSync('mkfifo', [path])
  const readEnd = opened(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = opened(path, constants.O_WRONLY)
  let received = Buffer.alloc(0)
  return {
    fd,
    text(): string {
      received = Buffer.concat([received, ...available(readEnd)])
      return received.toString()
    },
    closeReader: () => closeSync(open.splice(open.indexOf(readEnd), 1)[0] ?? -1),
  }
}

function available(fd: number): Buffer[] {
  const pieces: Buffer[] = []
  try {
    for (;;) {
      const piece = Buffer.alloc(65_536)
      const bytes = readSync(fd, piece)
      if (bytes === 0) return pieces
      pieces.push(piece.subarray(0, bytes))
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return pieces
    throw error
  }
}

const line = (n: number): string => `${n} ${'é'.repeat(500)}\n`
const lines = (count: number): string => Array.from({ length: count }, (_, n) => line(n)).join('')

describe('createLogWriter', () => {
  it('gathers lines until there are enough of them', () => {
    const { fd, text } = file()
    const writer = createLogWriter({ fd, gatherChars: 10 })
    writer.write('one\n')
    expect(text()).toBe('')
    writer.write('two and three\n')
    expect(text()).toBe('one\ntwo and three\n')
  })

  it('lets no line wait for long', async () => {
    const { fd, text } = file()
    createLogWriter({ fd, flushEveryMs: 1 }).write('alone\n')
    await expect.poll(text, { interval: 1 }).toBe('alone\n')
  })

  it('flushes when told', () => {
    const { fd, text } = file()
    const writer = createLogWriter({ fd })
    writer.write('now\n')
    writer.flush()
    expect(text()).toBe('now\n')
  })

  it('keeps every line, whole and in order, for a reader that falls behind', async () => {
    const { fd, text } = pipe()
    const writer = createLogWriter({ fd })
    for (let n = 0; n < 400; n += 1) writer.write(line(n))
    await expect.poll(() => text().length, { interval: 1, timeout: 5000 }).toBe(lines(400).length)
    expect(text()).toBe(lines(400))
    expect(writer.lostLines).toBe(0)
  })

  it('gives up older lines, counts them and keeps the newest when the reader is stuck', async () => {
    const { fd, text } = pipe()
    const writer = createLogWriter({ fd, maxPendingBytes: 100_000 })
    for (let n = 0; n < 1000; n += 1) writer.write(line(n))
    expect(writer.lostLines).toBeGreaterThan(500)
    await expect.poll(() => text().endsWith(line(999)), { interval: 1 }).toBe(true)
    const numbers = text()
      .trimEnd()
      .split('\n')
      .map(each => Number(/^(\d+) é{500}$/.exec(each)?.[1]))
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    expect(numbers).not.toContain(Number.NaN)
    expect(numbers.length + writer.lostLines).toBe(1000)
  })

  it('drops lines of a closed pipe without a word and counts them', () => {
    const { fd, closeReader } = pipe()
    const writer = createLogWriter({ fd })
    closeReader()
    writer.write('one\ntwo\n')
    expect(() => writer.flush()).not.toThrow()
    expect(writer.lostLines).toBe(2)
  })

  it('drain gives up on a reader that has stopped', () => {
    const { fd, text } = pipe()
    const writer = createLogWriter({ fd })
    for (let n = 0; n < 400; n += 1) writer.write(line(n))
    writer.drain(20)
    const bytes = Buffer.byteLength(text())
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(Buffer.byteLength(lines(400)))
  })
})
