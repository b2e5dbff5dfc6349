import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A mounted Secret: its files are links through `..data`, which kubelet swaps in one step. */
export class RotatingSecret {
  readonly dir = mkdtempSync(join(tmpdir(), 'forbear-secret-'))
  #round = 0

  constructor(files: Readonly<Record<string, string | Buffer>>) {
    this.rotate(files)
    for (const name of Object.keys(files)) symlinkSync(join('..data', name), this.path(name))
  }

  path(name: string): string {
    return join(this.dir, name)
  }

  rotate(files: Readonly<Record<string, string | Buffer>>): void {
    this.#round += 1
    const fresh = `..round-${this.#round}`
    mkdirSync(this.path(fresh))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.dir, fresh, name), text)
    symlinkSync(fresh, this.path('..data_tmp'))
    renameSync(this.path('..data_tmp'), this.path('..data'))
    rmSync(this.path(`..round-${this.#round - 1}`), { recursive: true, force: true })
  }

  dispose(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}
