import { readSealKey, type SealedHeader, type SealKey, unsealHeaders } from './seal.js'

/** Keys by their files, each read once until all are forgotten. */
export class SealKeys {
  readonly #keys = new Map<string, Promise<SealKey>>()

  get(file: string): Promise<SealKey> {
    const known = this.#keys.get(file) ?? readSealKey(file)
    this.#keys.set(file, known)
    known.catch(() => this.#keys.delete(file))
    return known
  }

  /** The files may have changed. */
  forget(): void {
    this.#keys.clear()
  }

  /**
   * Headers as they were before they were stored, by the first of the files that fits: a key may have been replaced since,
   * or be named no more. Rejects with what is wrong with the first one.
   */
  async open(stored: readonly SealedHeader[], entry: string, files: readonly (string | null)[]): Promise<string[]> {
    const named = [...new Set(files.filter(file => file !== null))]
    if (named.length === 0 || !stored.some(header => header.length === 3)) return unsealHeaders(stored, null, entry)
    const opened = await Promise.allSettled(named.map(async file => unsealHeaders(stored, await this.get(file), entry)))
    const good = opened.find(result => result.status === 'fulfilled')
    if (good !== undefined) return good.value
    throw (opened[0] as PromiseRejectedResult).reason
  }
}
