import type { RawHeaders, ResponseHead } from '../pipeline/ports.js'
import type { ProxyDownstream } from './downstream-port.js'

/** Body bytes on their way to the app, at the app's pace. */
export class Delivery {
  bytes = 0
  /** Waits for the app to read. */
  paused = false

  constructor(
    private readonly downstream: ProxyDownstream,
    private readonly resumeWire: () => void,
  ) {}

  /** @param read of the body so far */
  begin(head: ResponseHead, extra: RawHeaders, read: readonly Uint8Array[] = []): void {
    this.downstream.begin(head, extra)
    for (const chunk of read) this.push(chunk)
  }

  /** `false` = read no further until `resumeWire` is called. */
  push(chunk: Uint8Array): boolean {
    // What undici's parser gives when it is resumed at the end; a pause there would last for ever.
    if (chunk.length === 0) return true
    this.bytes += chunk.length
    if (this.downstream.write(chunk)) return true
    this.paused = true
    this.downstream.onDrain(() => this.resume())
    return !this.paused
  }

  private resume(): void {
    if (!this.paused) return
    this.paused = false
    this.resumeWire()
  }
}
