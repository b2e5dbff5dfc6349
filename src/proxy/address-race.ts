import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../clock/clock.js'

/** Lead of one address over the next, ms (RFC 8305 §5). */
const LEAD_MS = 250
/** Tried per dial. */
const MAX_ADDRESSES = 4
/** Says more about this host than about the upstream. */
const NO_WAY = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/**
 * Connects to whichever address answers first (RFC 8305): each has a lead over the next, unless it fails sooner, and none
 * is given up while another is tried. Node's own way gives up each before it tries the next, which across an ocean is too soon.
 */
export class AddressRace {
  private readonly left: LookupAddress[]
  private readonly running = new Set<Socket>()
  private readonly errors: Error[] = []
  private readonly leadMs: number
  private timer: Timer | null = null
  private over = false

  /** @param timeoutMs of all together; every address gets its turn before */
  constructor(
    addresses: readonly LookupAddress[],
    timeoutMs: number,
    private readonly clock: Clock,
    private readonly open: (address: string) => Socket,
    private readonly done: (error: Error | null, socket: Socket | null) => void,
  ) {
    this.left = interleaved(addresses).slice(0, MAX_ADDRESSES)
    this.leadMs = Math.min(LEAD_MS, timeoutMs / (this.left.length + 1))
    this.next()
  }

  /** No call-back follows. */
  cancel(): void {
    this.over = true
    this.timer?.cancel()
    for (const socket of this.running) socket.destroy()
  }

  private next(): void {
    this.timer?.cancel()
    const address = this.left.shift()
    if (address === undefined) return
    const socket = this.open(address.address)
    this.running.add(socket)
    // Stays for the life of the socket, so that no moment is without an error handler.
    socket.on('error', error => this.failed(socket, error))
    socket.once('connect', () => this.won(socket))
    if (this.left.length > 0) this.timer = this.clock.after(this.leadMs, () => this.next())
  }

  private failed(socket: Socket, error: Error): void {
    if (this.over) return
    this.running.delete(socket)
    this.errors.push(error)
    if (this.left.length > 0) this.next()
    else if (this.running.size === 0) {
      this.over = true
      const telling = this.errors.find(each => !NO_WAY.has((each as NodeJS.ErrnoException).code ?? ''))
      this.done(telling ?? error, null)
    }
  }

  private won(socket: Socket): void {
    if (this.over) return
    this.running.delete(socket)
    this.cancel()
    this.done(null, socket)
  }
}

/** The families in turn, the preferred one first. */
function interleaved(addresses: readonly LookupAddress[]): LookupAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family)
  const second = addresses.filter(({ family }) => family !== addresses[0]?.family)
  const longer = Math.max(first.length, second.length)
  return Array.from({ length: longer }, (_, i) => [first[i], second[i]])
    .flat()
    .filter(address => address !== undefined)
}
