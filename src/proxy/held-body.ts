/** A discarded answer's body, kept while it is small. */
export class HeldBody {
  private readonly chunks: Uint8Array[] = []
  private bytes = 0

  constructor(private readonly maxBytes: number) {}

  /** `false` = too large, nothing is kept. */
  push(chunk: Uint8Array): boolean {
    this.bytes += chunk.length
    if (this.bytes > this.maxBytes) return false
    this.chunks.push(chunk)
    return true
  }

  whole(): Uint8Array {
    const [only] = this.chunks
    return this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks, this.bytes)
  }
}
