/** Policy directories as people and as the kubelet write them. */
import { mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'

export type Document = Readonly<Record<string, unknown>>
/** File name → text. */
export type Files = Readonly<Record<string, string>>

export const toYaml = (...documents: readonly Document[]): string => documents.map(one => stringify(one)).join('---\n')

export const upstreamDoc = (name: string, target: string, spec: Document = {}): Document => ({
  apiVersion: 'forbear.dev/v1alpha1',
  kind: 'Upstream',
  metadata: { name },
  spec: { target, ...spec },
})

export const policyDoc = (name: string, spec: Document): Document => ({
  apiVersion: 'forbear.dev/v1alpha1',
  kind: 'Policy',
  metadata: { name },
  spec,
})

const briefly = { kind: 'fixed', base: '10ms', jitter: 'none' }

/** Back-offs of 10 ms, so that a test about what is repeated does not wait for when. */
export const quickRetry = (retry: Document = {}): Document => ({ backoff: briefly, throttled: briefly, ...retry })

/** More allowance than any test uses: for tests that are not about the budget. */
export const ample = { ratio: 1, window: '10s', minPerSecond: 100 }

const temporary = (): Promise<string> => mkdtemp(join(tmpdir(), 'forbear-e2e-'))

/** A plain directory that is edited in place. */
export class PolicyDir {
  private constructor(readonly path: string) {}

  static async create(files: Files): Promise<PolicyDir> {
    const dir = new PolicyDir(await temporary())
    for (const [name, text] of Object.entries(files)) await dir.write(name, text)
    return dir
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.path, name), text)
  }

  /** As many editors save: a new file renamed over the old one. */
  async replace(name: string, text: string): Promise<void> {
    const fresh = join(this.path, `.${name}.tmp`)
    await writeFile(fresh, text)
    await rename(fresh, join(this.path, name))
  }

  remove(name: string): Promise<void> {
    return unlink(join(this.path, name))
  }

  async dispose(): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }
}

/**
 * A mounted ConfigMap with the steps of the kubelet's atomic writer, in its order: a new timestamped directory, `..data_tmp`
 * renamed over `..data`, links for new names, links of vanished names removed, the old directory removed.
 */
export class ConfigMapDir {
  #writes = 0

  private constructor(readonly path: string) {}

  static async create(files: Files): Promise<ConfigMapDir> {
    const dir = new ConfigMapDir(await temporary())
    await dir.swap(files)
    return dir
  }

  async swap(files: Files): Promise<void> {
    const old = await readlink(join(this.path, '..data')).catch(() => null)
    const fresh = `..2026_11_30_21_00_00.${String(++this.#writes).padStart(9, '0')}`
    await mkdir(join(this.path, fresh))
    for (const [name, text] of Object.entries(files)) await writeFile(join(this.path, fresh, name), text)
    await symlink(fresh, join(this.path, '..data_tmp'))
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'))
    const visible = (await readdir(this.path)).filter(name => !name.startsWith('..'))
    for (const name of Object.keys(files)) {
      if (!visible.includes(name)) await symlink(join('..data', name), join(this.path, name))
    }
    for (const name of visible) if (!(name in files)) await unlink(join(this.path, name))
    if (old) await rm(join(this.path, old), { recursive: true })
  }

  async dispose(): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }
}
