import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigMapDir, type Files } from '../../support/config-map.js'

/** Gone when the test is. */
export async function temporaryDirectory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'forbear-policies-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

export async function configMapDir(files: Files): Promise<ConfigMapDir> {
  return ConfigMapDir.create(await temporaryDirectory(), files)
}
