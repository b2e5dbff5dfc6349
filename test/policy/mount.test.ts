import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeMount, mountedFiles } from '../../src/policy/mount.js'
import { configMapDir, temporaryDirectory } from './support/config-map.js'

const MOUNT_INFO = String.raw`
22 1 254:1 / / rw,relatime - ext4 /dev/vda rw
41 22 254:2 /pods/x /etc/forbear rw,relatime - ext4 /dev/vdb rw
42 41 254:2 /pods/y /etc/forbear/shop.yaml ro,relatime - ext4 /dev/vdb rw
43 41 254:2 /pods/z /etc/forbear/my\040policies/a.yaml ro,relatime - ext4 /dev/vdb rw
`

test('a file that is mounted by itself is found', () => {
  expect(mountedFiles(MOUNT_INFO, '/etc/forbear')).toEqual(['/etc/forbear/shop.yaml'])
})

test('also where the path is escaped', () => {
  expect(mountedFiles(MOUNT_INFO, '/etc/forbear/my policies')).toEqual(['/etc/forbear/my policies/a.yaml'])
})

test('a mounted directory is no such file', () => {
  expect(mountedFiles(MOUNT_INFO, '/etc')).toEqual([])
})

test('a mounted ConfigMap is told from a plain directory', async () => {
  const map = await configMapDir({ 'a.yaml': 'a' })
  expect(await describeMount(map.path)).toEqual({
    level: 'info',
    message: `${map.path} is a mounted ConfigMap or Secret: an edit arrives when the kubelet syncs`,
  })
  const plain = await temporaryDirectory()
  expect((await describeMount(plain)).message).toContain('is a plain directory')
})

test('a directory that is missing is described without failing', async () => {
  const missing = join(await temporaryDirectory(), 'gone')
  expect((await describeMount(missing)).level).toBe('info')
})
