import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DATA_LINK, errorCode, isPolicyFile } from './source.js'

/**
 * What a policy directory looks like without reading a file: the same text while nothing changed. A ConfigMap's files
 * are only ever replaced with their directory, so where `..data` points says it all.
 */
export async function directoryStamp(dir: string): Promise<string> {
  const data = await dataTarget(dir)
  if (data !== null) return `data ${data}`
  try {
    const names = (await readdir(dir)).filter(isPolicyFile).sort()
    const stamps = await Promise.all(names.map(name => fileStamp(dir, name)))
    return `files ${stamps.join(' ')}`
  } catch (error) {
    return `none ${errorCode(error)}`
  }
}

/** Where `..data` points, or `null` when there is no such link. */
export async function dataTarget(dir: string): Promise<string | null> {
  try {
    return await readlink(join(dir, DATA_LINK))
  } catch {
    return null
  }
}

/** Tells a directory from one that was removed and made anew under its name; `null` when there is none. */
export async function directoryIdentity(dir: string): Promise<string | null> {
  try {
    const { dev, ino, birthtimeNs } = await stat(dir, { bigint: true })
    // Inode numbers are given out again.
    return `${dev}:${ino}:${birthtimeNs}`
  } catch {
    return null
  }
}

async function fileStamp(dir: string, name: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(join(dir, name), { bigint: true })
    return `${name}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  } catch (error) {
    return `${name}:${errorCode(error)}`
  }
}
