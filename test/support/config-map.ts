import { mkdir, readdir, readlink, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** File name → text. */
export type Files = Readonly<Record<string, string>>

/**
 * Writes a mounted ConfigMap in the steps of the kubelet's atomic writer: a directory named after the time, `..data_tmp`
 * renamed over `..data`, one link per file, the old directory removed.
 */
export class ConfigMapDir {
  #writes = 0

  private constructor(readonly path: string) {}

  /** In an empty directory. */
  static async create(path: string, files: Files): Promise<ConfigMapDir> {
    const dir = new ConfigMapDir(path)
    await dir.swap(files)
    return dir
  }

  async swap(files: Files): Promise<void> {
    const old = await readlink(join(this.path, '..data')).catch(() => null)
    const fresh = `..2026_01_02_03_04_05.${String(++this.#writes).padStart(9, '0')}`
    await mkdir(join(this.path, fresh))
    for (const [name, text] of Object.entries(files)) await writeFile(join(this.path, fresh, name), text)
    await symlink(fresh, join(this.path, '..data_tmp'))
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'))
    await this.#linkFiles(Object.keys(files))
    if (old !== null) await rm(join(this.path, old), { recursive: true })
  }

  async #linkFiles(names: readonly string[]): Promise<void> {
    const visible = (await readdir(this.path)).filter(name => !name.startsWith('..'))
    for (const name of names) if (!visible.includes(name)) await symlink(join('..data', name), join(this.path, name))
    for (const name of visible) if (!names.includes(name)) await unlink(join(this.path, name))
  }
}
