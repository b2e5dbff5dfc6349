import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigMapDir, type Files } from '../../support/config-map.js'

/** A file system in memory, as the kubelet mounts Secrets on; `null` where there is none. */
export const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : null

/** Gone when the test is. */
export async function temporaryDirectory(parent = tmpdir()): Promise<string> {
  const dir = await mkdtemp(join(parent, 'forbear-policies-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

export async function configMapDir(files: Files, parent?: string): Promise<ConfigMapDir> {
  return ConfigMapDir.create(await temporaryDirectory(parent), files)
}
