/** The kubelet's writer that the tests of reloading stand on. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configMapDir } from './support/config-map.js'

test('a written ConfigMap looks as the kubelet leaves it', async () => {
  const map = await configMapDir({})
  const old = await readlink(join(map.path, '..data'))
  expect(await map.write({ 'a.yaml': 'a', 'b.yaml': 'b' })).toBe(true)
  const data = await readlink(join(map.path, '..data'))
  expect(data).not.toBe(old)
  expect(data).toMatch(/^\.\.\d{4}(_\d\d){5}\.\d{1,10}$/)
  expect((await readdir(map.path)).sort()).toEqual(['..data', data, 'a.yaml', 'b.yaml'].sort())
  expect(await readlink(join(map.path, 'a.yaml'))).toBe('..data/a.yaml')
  expect(await readFile(join(map.path, 'b.yaml'), 'utf8')).toBe('b')
  expect((await lstat(join(map.path, data, 'a.yaml'))).mode & 0o777).toBe(0o644)
  expect((await lstat(join(map.path, data))).mode & 0o777).toBe(0o755)
})

test('equal content is not written, a removed file is', async () => {
  const map = await configMapDir({})
  await map.write({ 'a.yaml': 'a', 'b.yaml': 'b' })
  const before = await readlink(join(map.path, '..data'))
  expect(await map.write({ 'b.yaml': 'b', 'a.yaml': 'a' })).toBe(false)
  expect(await readlink(join(map.path, '..data'))).toBe(before)
  expect(await map.write({ 'a.yaml': 'a' })).toBe(true)
  expect((await readdir(map.path)).filter(name => name.endsWith('.yaml'))).toEqual(['a.yaml'])
})
