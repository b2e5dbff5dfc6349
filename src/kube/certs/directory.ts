/** A certificate set as files of a directory. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CertificateSet } from './bundle.js'

/** The key last: until it is there, whoever watches the directory goes on with the old pair. */
const MODES = { 'ca.crt': 0o644, 'tls.crt': 0o644, 'tls.key': 0o600 } as const
const FILES = ['ca.crt', 'tls.crt', 'tls.key'] as const

export async function writeSet(dir: string, set: CertificateSet): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  for (const file of FILES) {
    const path = join(dir, file)
    const fresh = join(dir, `.${file}.new`)
    // Of a file that exists `mode` says nothing.
    await rm(fresh, { force: true })
    await writeFile(fresh, set[file], { mode: MODES[file], flag: 'wx' })
    await rename(fresh, path)
  }
}

export async function readSet(dir: string): Promise<Pick<CertificateSet, 'ca.crt' | 'tls.crt'>> {
  const read = (file: string) => readFile(join(dir, file), 'utf8')
  return { 'ca.crt': await read('ca.crt'), 'tls.crt': await read('tls.crt') }
}

/** The first of the files that is there already. */
export async function existingFile(dir: string): Promise<string | null> {
  for (const file of FILES) {
    const path = join(dir, file)
    const exists = await stat(path).then(
      () => true,
      () => false,
    )
    if (exists) return path
  }
  return null
}
