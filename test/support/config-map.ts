import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'

/** File name → text. */
export type Files = Readonly<Record<string, string>>

/** Releases of the kubelet differ in when they link a file that is new: before `..data` is swapped, or after. */
export type LinkOrder = 'before' | 'after'

/**
 * Writes a mounted ConfigMap in the steps of the kubelet's AtomicWriter (kubernetes, pkg/volume/util/atomic_writer.go):
 * a new directory named after the time, its files with their modes, `..data_tmp` renamed over `..data`, one link for each
 * new file (see `LinkOrder`), the links of files that are gone and then the old directory removed. Nothing when the content
 * is equal.
 */
export class ConfigMapDir {
  #writes = 0

  /** On a directory that is empty or was written before. */
  constructor(
    readonly path: string,
    readonly links: LinkOrder = 'after',
  ) {}

  /** In an empty directory. */
  static async create(path: string, files: Files): Promise<ConfigMapDir> {
    const dir = new ConfigMapDir(path)
    await dir.swap(files)
    return dir
  }

  /** As when a key that is no policy changed, too: the directory is replaced even if the files given are equal. */
  async swap(files: Files): Promise<void> {
    await this.write({ ...files, revision: String(++this.#writes) })
  }

  /** `false` = all was equal, nothing was touched. */
  async write(files: Files): Promise<boolean> {
    const old = await readlink(this.#at('..data')).catch(() => null)
    const gone = old === null ? [] : (await readdir(this.#at(old))).filter(name => !(name in files))
    if (old !== null && gone.length === 0 && (await this.#equal(old, files))) return false
    const fresh = await this.#newDirectory()
    for (const [name, text] of Object.entries(files)) {
      await writeFile(this.#at(fresh, name), text)
      // Whatever the umask.
      await chmod(this.#at(fresh, name), 0o644)
    }
    if (this.links === 'before') await this.#link(files)
    await symlink(fresh, this.#at('..data_tmp'))
    await rename(this.#at('..data_tmp'), this.#at('..data'))
    if (this.links === 'after') await this.#link(files)
    for (const name of gone) await unlink(this.#at(name))
    if (old !== null) await rm(this.#at(old), { recursive: true })
    return true
  }

  async #link(files: Files): Promise<void> {
    for (const name of Object.keys(files))
      if (!(await exists(this.#at(name)))) await symlink(join('..data', name), this.#at(name))
  }

  async #equal(old: string, files: Files): Promise<boolean> {
    for (const [name, text] of Object.entries(files)) {
      const before = await readFile(this.#at(old, name), 'utf8').catch(() => null)
      if (before !== text) return false
    }
    return true
  }

  /** `..2026_12_01_09_30_00.1234567890`: UTC, and a random number of up to ten digits. */
  async #newDirectory(): Promise<string> {
    const time = new Date().toISOString().slice(0, 19).replace(/[-T:]/g, '_')
    const name = `..${time}.${Math.floor(Math.random() * 2 ** 32)}`
    await mkdir(this.#at(name))
    await chmod(this.#at(name), 0o755)
    return name
  }

  #at(...names: string[]): string {
    return join(this.path, ...names)
  }
}

/** Also of a link that leads nowhere. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
