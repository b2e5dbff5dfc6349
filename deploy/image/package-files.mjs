// Takes the place of cmd/package-files.ts in the bundle, which has no files beside it: their texts are in it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/* global FORBEAR_VERSION, FORBEAR_POLICIES */
export async function packageVersion() {
  return FORBEAR_VERSION
}

/** Policies are read from a directory, so they get one. */
export async function shippedPolicies() {
  const dir = await writableDirectory()
  await Promise.all(Object.entries(FORBEAR_POLICIES).map(([name, text]) => writeFile(join(dir, name), text)))
  return { dir, dispose: () => rm(dir, { recursive: true, force: true }) }
}

/** A container with a read-only root has memory at /dev/shm even where nothing is mounted at /tmp. */
async function writableDirectory() {
  const make = parent => mkdtemp(join(parent, 'forbear-demo-'))
  return make(tmpdir()).catch(() => make('/dev/shm'))
}
