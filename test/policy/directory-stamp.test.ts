import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataTarget, directoryIdentity, directoryStamp } from '../../src/policy/directory-stamp.js'
import { configMapDir, temporaryDirectory } from './support/config-map.js'

test('the stamp stays while nothing changes', async () => {
  const dir = await temporaryDirectory()
  await writeFile(join(dir, 'a.yaml'), 'a')
  expect(await directoryStamp(dir)).toBe(await directoryStamp(dir))
})

test.for<[string, (dir: string) => Promise<void>]>([
  ['an edit of the same length', dir => writeFile(join(dir, 'a.yaml'), 'b')],
  ['a new file', dir => writeFile(join(dir, 'b.yml'), 'b')],
  ['a deleted file', dir => rm(join(dir, 'a.yaml'))],
  ['a dangling link', dir => symlink('nowhere', join(dir, 'b.yaml'))],
  [
    'a directory in place of a file',
    async dir => void (await rm(join(dir, 'a.yaml')), await mkdir(join(dir, 'a.yaml'))),
  ],
  ['the directory removed', dir => rm(dir, { recursive: true })],
])('the stamp changes with %s', async ([, change]) => {
  const dir = await temporaryDirectory()
  await writeFile(join(dir, 'a.yaml'), 'a')
  const before = await directoryStamp(dir)
  await change(dir)
  expect(await directoryStamp(dir)).not.toBe(before)
})

test('the stamp sees through a link to a file elsewhere', async () => {
  const [dir, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()]
  await writeFile(join(elsewhere, 'real.yaml'), 'a')
  await symlink(join(elsewhere, 'real.yaml'), join(dir, 'a.yaml'))
  const before = await directoryStamp(dir)
  await writeFile(join(elsewhere, 'real.yaml'), 'ab')
  expect(await directoryStamp(dir)).not.toBe(before)
})

test('files that are no policies do not count', async () => {
  const dir = await temporaryDirectory()
  const before = await directoryStamp(dir)
  await writeFile(join(dir, '.a.yaml.swp'), 'a')
  await writeFile(join(dir, 'README.md'), 'a')
  expect(await directoryStamp(dir)).toBe(before)
})

test('of a mounted ConfigMap only the target of ..data counts', async () => {
  const map = await configMapDir({ 'a.yaml': 'a' })
  const before = await directoryStamp(map.path)
  await writeFile(join(map.path, 'beside.yaml'), 'b')
  expect(await directoryStamp(map.path)).toBe(before)
  await map.swap({ 'a.yaml': 'a' })
  expect(await directoryStamp(map.path)).not.toBe(before)
  expect(await dataTarget(map.path)).toMatch(/^\.\.2026/)
})

test('a directory made anew under the same name is another one', async () => {
  const dir = await temporaryDirectory()
  const before = await directoryIdentity(dir)
  await rename(dir, join(await temporaryDirectory(), 'old'))
  expect(await directoryIdentity(dir)).toBeNull()
  await mkdir(dir)
  expect(await directoryIdentity(dir)).not.toBe(before)
})
