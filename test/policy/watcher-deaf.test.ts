import { EventEmitter } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { temporaryDirectory } from './support/config-map.js'
import { FastClock, watching } from './support/watching.js'

const chokidar = vi.hoisted(() => ({ opened: 0, code: null as string | null }))

vi.mock('chokidar', () => ({
  watch: () => {
    chokidar.opened++
    const { code } = chokidar
    const watcher = Object.assign(new EventEmitter(), { close: async () => {} })
    if (code !== null) setImmediate(() => watcher.emit('error', Object.assign(new Error(code), { code })))
    return watcher
  },
}))

beforeEach(() => {
  chokidar.opened = 0
})

async function edited(code: string | null): Promise<readonly string[]> {
  chokidar.code = code
  const dir = await temporaryDirectory()
  await writeFile(join(dir, 'shop.yaml'), 'one')
  const { inForce, events, notices } = watching(dir, { clock: new FastClock() })
  for (const text of ['two', 'three']) {
    await writeFile(join(dir, 'shop.yaml'), text)
    await inForce()
  }
  expect(events.map(event => event.trigger)).toEqual(['poll', 'poll'])
  return notices
}

test('where no file event ever comes, the poll finds the edit', async () => {
  expect(await edited(null)).toHaveLength(1)
})

test.for(['ENOSPC', 'EMFILE'])('without watches to be had (%s) the poll is enough, which is said once', async code => {
  const notices = await edited(code)
  expect(notices.slice(1)).toEqual([`warn no file events (${code}): the policies are polled every 5 s`])
  expect(chokidar.opened).toBe(1)
})

test('any other error of the watch is not worth a word, and it is opened again', async () => {
  expect(await edited('EIO')).toHaveLength(1)
  expect(chokidar.opened).toBeGreaterThan(1)
})
