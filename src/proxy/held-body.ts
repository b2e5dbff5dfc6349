/** How long a discarded answer may take to be read, ms. */
export const HOLD_MS = 1_000

/** An answer's body, kept while it is small. */
export class HeldBody {
  readonly chunks: Uint8Array[] = []
  private bytes = 0

  constructor(private readonly maxBytes: number) {}

  /** `false` = too large: this chunk was the last that it takes. */
  push(chunk: Uint8Array): boolean {
    this.bytes += chunk.length
    this.chunks.push(chunk)
    return this.bytes <= this.maxBytes
  }

  whole(): Uint8Array {
    const [only] = this.chunks
    return this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks, this.bytes)
  }
}
