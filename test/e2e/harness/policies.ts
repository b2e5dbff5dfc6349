/** Policy directories as people write them. */
import { mkdtemp, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Files } from '../../support/config-map.js'

export type Document = Readonly<Record<string, unknown>>

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

export const temporary = (parent = tmpdir()): Promise<string> => mkdtemp(join(parent, 'forbear-e2e-'))

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
