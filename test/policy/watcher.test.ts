import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Snapshot, UpstreamSnapshot } from '../../src/core/snapshot.js'
import type { Load, LoadAnswer } from '../../src/policy/load-request.js'
import { configMapDir, temporaryDirectory } from './support/config-map.js'
import { eventually, FastClock, loadText, snapshotOf, watching } from './support/watching.js'

const FILE = 'shop.yaml'

async function plainDirectory(text: string): Promise<{ dir: string; write(text: string): Promise<void> }> {
  const dir = await temporaryDirectory()
  const write = (content: string): Promise<void> => writeFile(join(dir, FILE), content)
  await write(text)
  return { dir, write }
}

describe('a mounted ConfigMap', () => {
  test('each swap of several in a row comes into force', async () => {
    const map = await configMapDir({ [FILE]: 'one' })
    const { inForce, applied, results } = watching(map.path)
    for (const text of ['two', 'three', 'four', 'five', 'six']) {
      await map.swap({ [FILE]: text })
      await inForce()
    }
    expect(applied.map(snapshot => snapshot.generation)).toEqual([2, 3, 4, 5, 6])
    expect(results()).toEqual(Array(5).fill('applied'))
  })

  test('one swap is one reload, a burst far fewer than its swaps, and the last content wins', async () => {
    const map = await configMapDir({ [FILE]: 'one' })
    const { inForce, loads, events } = watching(map.path)
    await map.swap({ [FILE]: 'two' })
    await inForce()
    expect(loads()).toBe(1)
    for (let n = 1; n <= 20; n++) {
      await map.swap({ [FILE]: `text ${n}` })
      await sleep(20)
    }
    await inForce()
    expect(loads()).toBeLessThanOrEqual(5)
    expect(events.every(event => event.result === 'applied')).toBe(true)
  })

  test('equal content swapped in is nobody’s news', async () => {
    const map = await configMapDir({ [FILE]: 'one' })
    const { inForce, loads, events } = watching(map.path)
    await map.swap({ [FILE]: 'one' })
    await eventually(() => loads() === 1)
    await map.swap({ [FILE]: 'two' })
    await inForce()
    expect(events.map(event => event.generation)).toEqual([2])
  })
})

describe('a plain directory', () => {
  test('an edit in place and one by an editor that renames are followed', async () => {
    const { dir, write } = await plainDirectory('one')
    const { inForce, results } = watching(dir)
    await write('two')
    await inForce()
    for (const text of ['three', 'four', 'five']) {
      await writeFile(join(dir, '.shop.yaml.swp'), text)
      await rename(join(dir, '.shop.yaml.swp'), join(dir, FILE))
      await inForce()
    }
    expect(results()).toEqual(Array(4).fill('applied'))
  })

  test('a deleted file leaves its policy in force, and the new one is picked up', async () => {
    const { dir, write } = await plainDirectory('one')
    const { inForce, applied, results } = watching(dir)
    await rm(join(dir, FILE))
    await eventually(() => results().length === 1)
    expect([results(), applied]).toEqual([['rejected'], []])
    await write('two')
    await inForce()
    expect(results()).toEqual(['rejected', 'applied'])
  })

  test('a directory that vanishes and comes back is followed again', async () => {
    const { dir, write } = await plainDirectory('one')
    const { inForce, events, results } = watching(dir, { clock: new FastClock() })
    await rm(dir, { recursive: true })
    await eventually(() => results().length === 1)
    expect(events[0]).toMatchObject({ result: 'rejected', generation: 1 })
    await mkdir(dir)
    await write('two')
    await inForce()
    await write('three')
    await inForce()
    expect(results().filter(result => result === 'applied').length).toBe(2)
  })
})

describe('a broken edit', () => {
  test.for<[string, (dir: string) => Promise<unknown>]>([
    ['zero bytes', dir => writeFile(join(dir, FILE), '')],
    ['what is invalid', dir => writeFile(join(dir, FILE), 'bad')],
    ['a directory', async dir => [await rm(join(dir, FILE)), await mkdir(join(dir, FILE))]],
    ['nothing', dir => rm(join(dir, FILE))],
  ])('that leaves %s keeps the old policy and is told once', async ([, breakIt]) => {
    const { dir, write } = await plainDirectory('one')
    const { watcher, applied, events, inForce } = watching(dir, { clock: new FastClock() })
    await breakIt(dir)
    await eventually(() => events.length === 1)
    await watcher.reload('watch')
    await watcher.reload('poll')
    expect([applied, events.length, events[0]?.result]).toEqual([[], 1, 'rejected'])
    expect(events[0]?.messages.join()).not.toBe('')
    await rm(join(dir, FILE), { recursive: true, force: true })
    await write('two')
    await inForce()
    expect(events.at(-1)).toMatchObject({ result: 'applied', generation: 2 })
  })

  test('is not told again while it stays the same, but to whoever asks', async () => {
    const { dir, write } = await plainDirectory('one')
    const { watcher, events } = watching(dir)
    await write('bad')
    await eventually(() => events.length === 1)
    await watcher.reload('watch')
    await watcher.reload('poll')
    expect(events.length).toBe(1)
    expect(await watcher.reload('admin')).toEqual({ result: 'rejected', messages: ['broken: bad'] })
    expect(events.length).toBe(2)
    await write('bad too')
    await eventually(() => events.length === 3)
  })

  test('that is taken back is told as over', async () => {
    const { dir, write } = await plainDirectory('one')
    const { events, results, applied } = watching(dir)
    await write('bad')
    await eventually(() => events.length === 1)
    await write('one')
    await eventually(() => events.length === 2)
    expect([results(), applied]).toEqual([['rejected', 'unchanged'], []])
  })
})

describe('a reload by hand', () => {
  test('says that nothing changed', async () => {
    const { dir } = await plainDirectory('one')
    const { watcher, events } = watching(dir)
    expect(await watcher.reload('admin')).toEqual({ result: 'unchanged', messages: [] })
    expect(events).toMatchObject([{ result: 'unchanged', trigger: 'admin', generation: 1 }])
  })

  test('reloads come one after another, and wishes that wait are one', async () => {
    const { dir, write } = await plainDirectory('one')
    let running = 0
    let most = 0
    const load = async (request: Parameters<typeof loadText>[0]): Promise<LoadAnswer> => {
      most = Math.max(most, ++running)
      await sleep(5)
      running--
      return loadText(request)
    }
    const { watcher, loads } = watching(dir, { load })
    await write('two')
    const first = watcher.reload('admin')
    await sleep(2)
    const outcomes = await Promise.all([first, ...Array.from({ length: 20 }, () => watcher.reload('signal'))])
    expect(outcomes.map(outcome => outcome.result)).toEqual(['applied', ...Array(20).fill('unchanged')])
    expect([most, loads()]).toEqual([1, 2])
  })

  test('a loader that fails is a rejection, and is tried again without a change', async () => {
    const { dir, write } = await plainDirectory('one')
    let failures = 1
    const load = async (request: Parameters<typeof loadText>[0]): Promise<LoadAnswer> => {
      if (failures-- > 0) throw new Error('no thread to be had')
      return loadText(request)
    }
    await write('two')
    const clock = new FastClock()
    const late = { nowMs: () => clock.nowMs() * 100, wallMs: () => 0, after: clock.after.bind(clock) }
    const { results, events, inForce } = watching(dir, { load, clock: late, current: snapshotOf(1, 'other') })
    await inForce()
    expect(results()).toEqual(['rejected', 'applied'])
    expect(events[0]?.messages).toEqual([`${dir}: the policies could not be loaded: no thread to be had`])
  })

  test('a snapshot that cannot be put into force is a rejection, and the next one is tried', async () => {
    const { dir, write } = await plainDirectory('one')
    const onSnapshot = (next: Snapshot): void => {
      if (applied.length === 0 && results().length === 0) throw new Error(`no room for ${next.generation}`)
    }
    const { watcher, applied, results, events } = watching(dir, { onSnapshot })
    await write('two')
    await watcher.reload('signal')
    await watcher.reload('signal')
    expect(results()).toEqual(['rejected', 'applied'])
    expect(events[0]?.messages[0]).toContain('no room for 2')
    expect(applied.map(snapshot => snapshot.generation)).toEqual([2])
  })

  test('after the end changes nothing', async () => {
    const { dir, write } = await plainDirectory('one')
    const { watcher, applied, events } = watching(dir)
    await watcher.close()
    await write('two')
    expect((await watcher.reload('admin')).result).toBe('rejected')
    expect([applied, events]).toEqual([[], []])
  })
})

test('a reload tells which upstreams it added, changed and removed', async () => {
  const { dir, write } = await plainDirectory('one')
  const part = (name: string, port: number) =>
    [
      name,
      { name, target: { port }, match: { hosts: [], pathPrefix: `/${name}` } } as unknown as UpstreamSnapshot,
    ] as const
  const current = snapshotOf(1, 'first', { upstreams: new Map([part('same', 1), part('moved', 1), part('gone', 1)]) })
  const next = new Map([part('same', 1), part('moved', 2), part('new', 1)])
  const load: Load = async () => ({
    kind: 'whole',
    snapshot: snapshotOf(2, 'second', { upstreams: next }),
    messages: [],
  })
  const { watcher, events } = watching(dir, { current, load })
  await write('two')
  await watcher.reload('signal')
  expect(events.at(-1)?.changes).toEqual({ added: ['new'], changed: ['moved'], removed: ['gone'] })
})

test('a bad edit that is taken back is told as the end of the trouble, once', async () => {
  const { dir, write } = await plainDirectory('one')
  const { watcher, events, results } = watching(dir)
  await write('bad')
  await watcher.reload('signal')
  await write('one')
  await watcher.reload('watch')
  await watcher.reload('watch')
  expect(results()).toEqual(['rejected', 'unchanged'])
  expect(events.at(-1)).toMatchObject({ result: 'unchanged', recovered: true })
})

describe('--start valid-only', () => {
  const invalid: Snapshot['invalid'] = new Map([['shop', { match: { hosts: [], pathPrefix: '/shop' }, listen: null }]])

  test('applies what is valid until a set is whole, then all or nothing', async () => {
    const { dir, write } = await plainDirectory('half')
    const current = snapshotOf(1, 'first', { invalid })
    const { watcher, results, applied } = watching(dir, { mode: 'valid-only', current })
    await watcher.reload('signal')
    await write('half again')
    await watcher.reload('signal')
    await write('whole')
    await watcher.reload('signal')
    await write('half')
    await watcher.reload('signal')
    expect(results()).toEqual(['partial', 'partial', 'applied', 'rejected'])
    expect(applied.length).toBe(3)
  })

  test('names who is left out, in the log and to who asked', async () => {
    const { dir, write } = await plainDirectory('half')
    const { watcher, events } = watching(dir, { mode: 'valid-only', current: snapshotOf(1, 'first', { invalid }) })
    expect(await watcher.reload('admin')).toEqual({ result: 'partial', messages: ['half'], noPolicy: ['shop'] })
    expect(events.at(-1)).toMatchObject({ result: 'partial', noPolicy: ['shop'], kept: [] })
    await write('whole')
    expect(await watcher.reload('admin')).toEqual({ result: 'applied', messages: [] })
    expect(events.at(-1)).toMatchObject({ result: 'applied', noPolicy: [], kept: [] })
  })
})

test('says at the start whether edits can arrive', async () => {
  const map = await configMapDir({ [FILE]: 'one' })
  const { notices } = watching(map.path)
  await eventually(() => notices.length === 1)
  expect(notices[0]).toMatch(/^info .* is a mounted ConfigMap/)
})
