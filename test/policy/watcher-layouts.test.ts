/** By file events alone: a poll would only hide that they were missed. */
import { mkdir, readlink, rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/clock/clock.js'
import { MAX_DELAY_MS, SystemClock } from '../../src/clock/system-clock.js'
import { configMapDir, MEMORY, temporaryDirectory } from './support/config-map.js'
import { watching } from './support/watching.js'

const FILE = 'shop.yaml'

class NeverPolls extends SystemClock {
  override after(delayMs: number, fn: () => void): ReturnType<Clock['after']> {
    return super.after(delayMs === 5000 ? MAX_DELAY_MS : delayMs, fn)
  }
}

interface Layout {
  readonly dir: string
  change(text: string): Promise<unknown>
}

const LAYOUTS: Readonly<Record<string, (parent: string) => Promise<Layout>>> = {
  'a plain file, edited in place': async parent => {
    const dir = await temporaryDirectory(parent)
    return { dir, change: text => writeFile(join(dir, FILE), text) }
  },
  'a plain file, replaced as editors do': async parent => {
    const dir = await temporaryDirectory(parent)
    const fresh = join(dir, '.shop.yaml.swp')
    return { dir, change: async text => [await writeFile(fresh, text), await rename(fresh, join(dir, FILE))] }
  },
  'a link to a file elsewhere': async parent => {
    const [dir, elsewhere] = [await temporaryDirectory(parent), await temporaryDirectory(parent)]
    await symlink(join(elsewhere, 'real.yaml'), join(dir, FILE))
    return { dir, change: text => writeFile(join(elsewhere, 'real.yaml'), text) }
  },
  'a link to the directory': async parent => {
    const [dir, beside] = [await temporaryDirectory(parent), await temporaryDirectory(parent)]
    await symlink(dir, join(beside, 'policies'))
    return { dir: join(beside, 'policies'), change: text => writeFile(join(dir, FILE), text) }
  },
  'a mounted ConfigMap': async parent => {
    const map = await configMapDir({ [FILE]: '' }, parent)
    return { dir: map.path, change: text => map.write({ [FILE]: text }) }
  },
  'a ConfigMap in a directory below the mount, by a link': async parent => {
    const map = await configMapDir({ [FILE]: '' }, parent)
    const beside = await temporaryDirectory(parent)
    await mkdir(join(beside, 'etc'))
    await symlink(map.path, join(beside, 'etc', 'policies'))
    return { dir: join(beside, 'etc', 'policies'), change: text => map.write({ [FILE]: text }) }
  },
}

describe.each<[string, string | null]>([
  ['on disk', tmpdir()],
  ['in memory', MEMORY],
])('%s', (_where, parent) => {
  test.for(Object.keys(LAYOUTS))('each edit of %s is one reload', async (name, context) => {
    if (parent === null) return context.skip('no /dev/shm on this host')
    const { dir, change } = await (LAYOUTS[name] as (parent: string) => Promise<Layout>)(parent)
    await change('one')
    const { inForce, results, loads } = watching(dir, { clock: new NeverPolls() })
    for (const text of ['two', 'three', 'four']) {
      await change(text)
      await inForce()
    }
    expect([results(), loads()]).toEqual([Array(3).fill('applied'), 3])
  })

  test('twenty swaps end with the last, in few reloads', async context => {
    if (parent === null) return context.skip('no /dev/shm on this host')
    const map = await configMapDir({ [FILE]: 'one' }, parent)
    const { inForce, loads, results } = watching(map.path, { clock: new NeverPolls() })
    for (let n = 1; n <= 20; n++) {
      await map.write({ [FILE]: `text ${n}` })
      await sleep(20)
    }
    await inForce()
    expect(loads()).toBeLessThanOrEqual(5)
    expect(results()).toEqual(Array(loads()).fill('applied'))
  })
})

test('a file written in pieces is not read before it is whole', async () => {
  const dir = await temporaryDirectory()
  await writeFile(join(dir, FILE), 'one')
  const { inForce, results, loads } = watching(dir)
  await writeFile(join(dir, FILE), 'bad')
  for (const piece of ['bad', 'bad ', 'bad t', 'whole']) {
    await sleep(20)
    await writeFile(join(dir, FILE), piece)
  }
  await inForce()
  expect([results(), loads()]).toEqual([['applied'], 1])
})

test('a link ..data that is missing for a moment is no news', async () => {
  const map = await configMapDir({ [FILE]: 'one' })
  const { inForce, results } = watching(map.path)
  const data = await readlink(join(map.path, '..data'))
  await unlink(join(map.path, '..data'))
  await sleep(20)
  await symlink(data, join(map.path, '..data'))
  await map.write({ [FILE]: 'two' })
  await inForce()
  expect(results()).toEqual(['applied'])
})
