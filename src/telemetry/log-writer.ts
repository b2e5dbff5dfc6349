/**
 * Where log lines leave the process. Writes are gathered, made from the main thread without blocking, and kept in
 * order: a worker or a thread pool would lose or scramble exactly the last lines before a crash (pinojs/pino#2054).
 * A reader that is slow, stuck or gone costs log lines, never a request.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'

export interface LogWriter {
  /** One whole line with its newline. */
  write(line: string): void
  /** Hands over what the reader takes now. Never blocks, never throws. */
  flush(): void
  /**
   * Writes everything, blocking; for the end of the process. Gives up once the reader has taken nothing for
   * `patienceMs`, or after five times that in all.
   */
  drain(patienceMs: number): void
  /** Lines given up so far: the reader was gone, or too far behind. */
  readonly lostLines: number
}

export interface LogWriterOptions {
  /** Default: 1, standard output. */
  readonly fd?: number
  /** Written at once beyond this many characters; default 8192. */
  readonly gatherChars?: number
  /** A line waits no longer than this; default 200 ms. */
  readonly flushEveryMs?: number
  /** Kept for a reader that is behind; default 4 MiB, then the oldest lines go. */
  readonly maxPendingBytes?: number
}

/** How soon to try again after the reader had no room, ms. */
const RETRY_MS = 10

export function createLogWriter(options: LogWriterOptions = {}): LogWriter {
  return new FdWriter(
    nonBlocking(options.fd ?? 1),
    options.gatherChars ?? 8192,
    options.flushEveryMs ?? 200,
    options.maxPendingBytes ?? 4 * 1024 * 1024,
  )
}

class FdWriter implements LogWriter {
  lostLines = 0
  #gathered = ''
  #chunks: Buffer[] = []
  #chunkBytes = 0
  /** Of the first chunk, already written. */
  #offset = 0
  #congested = false
  readonly #fd: number
  readonly #gatherChars: number
  readonly #flushEveryMs: number
  readonly #maxPendingBytes: number
  #timer: NodeJS.Timeout | null = null

  constructor(fd: number, gatherChars: number, flushEveryMs: number, maxPendingBytes: number) {
    this.#fd = fd
    this.#gatherChars = gatherChars
    this.#flushEveryMs = flushEveryMs
    this.#maxPendingBytes = maxPendingBytes
  }

  write(line: string): void {
    this.#gathered += line
    if (this.#gathered.length >= this.#gatherChars) {
      if (this.#congested) this.#seal()
      else this.flush()
    } else if (this.#timer === null) {
      this.#retryIn(this.#flushEveryMs)
    }
  }

  flush(): void {
    this.#seal()
    this.#congested = !this.#writeChunks()
    if (this.#congested && this.#timer === null) this.#retryIn(RETRY_MS)
  }

  drain(patienceMs: number): void {
    this.#seal()
    let idleMs = 0
    for (let waitedMs = 0; idleMs < patienceMs && waitedMs < 5 * patienceMs; waitedMs += RETRY_MS) {
      const pendingBefore = this.#chunkBytes - this.#offset
      if (this.#writeChunks()) return
      idleMs = this.#chunkBytes - this.#offset < pendingBefore ? 0 : idleMs + RETRY_MS
      sleepSync(RETRY_MS)
    }
  }

  /** False when the reader has no room. */
  #writeChunks(): boolean {
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      try {
        this.#offset += writeSync(this.#fd, chunk, this.#offset)
      } catch (error) {
        if (isBusy(error)) return false
        // Closed pipe, full disk: these lines are gone, a later write may find a new reader.
        this.lostLines += linesIn(chunk, this.#offset)
        this.#offset = chunk.length
      }
      if (this.#offset === chunk.length) {
        this.#chunks.shift()
        this.#chunkBytes -= chunk.length
        this.#offset = 0
      }
    }
    return true
  }

  #seal(): void {
    if (this.#gathered === '') return
    const chunk = Buffer.from(this.#gathered)
    this.#gathered = ''
    this.#chunks.push(chunk)
    this.#chunkBytes += chunk.length
    // The first chunk may be half written, so the second goes.
    while (this.#chunkBytes > this.#maxPendingBytes && this.#chunks.length > 2) {
      const [dropped] = this.#chunks.splice(1, 1)
      if (dropped === undefined) return
      this.#chunkBytes -= dropped.length
      this.lostLines += linesIn(dropped, 0)
    }
  }

  #retryIn(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.flush()
    }, delayMs)
    this.#timer.unref()
  }
}

function linesIn(chunk: Buffer, offset: number): number {
  let lines = 0
  for (let at = chunk.indexOf(10, offset); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
  return lines
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}

/**
 * A pipe is opened a second time: O_NONBLOCK belongs to the open file, which other processes may share with us.
 * Where that is refused (a socket, another user's pipe) Node's own stream does it, which sets the flag when it is
 * first used. Files never block for long.
 */
function nonBlocking(fd: number): number {
  const stat = fstatSync(fd)
  if (!stat.isFIFO() && !stat.isSocket()) return fd
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    if (fd === 1) process.stdout.on('error', () => undefined)
    return fd
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4))

function sleepSync(ms: number): void {
  Atomics.wait(NEVER, 0, 0, ms)
}
