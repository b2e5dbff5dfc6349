import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../clock/clock.js'
import { DEFAULT_ROTATION, ModeSwitch, type Rotation } from './mode-switch.js'
import { isMode, MODES, type Mode, react } from './modes.js'

export interface FlakyUpstreamOptions {
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
  /** `null` = changes only when told; default 20 s well, 10 s of trouble. */
  readonly rotation?: Rotation | null
  readonly onMode?: (mode: Mode) => void
}

/** `GET /__stats` */
export interface FlakyStats {
  readonly mode: Mode
  readonly automatic: boolean
  /** Calls in all, those that were reset included. */
  readonly calls: number
  /** Calls that carried `forbear-attempt` above 1. */
  readonly repeats: number
  /** By status, or `reset`. */
  readonly answers: Readonly<Record<string, number>>
}

/**
 * An HTTP server that misbehaves by the clock or on command, to try policies on. Any path gets JSON that tells what
 * arrived. `POST /__mode/NAME` switches (and stays), `POST /__mode/auto` goes round again, `GET /__stats` counts.
 */
export class FlakyUpstream {
  readonly #options: FlakyUpstreamOptions
  readonly #server: Server
  readonly #switch: ModeSwitch
  readonly #answers = new Map<string, number>()
  #calls = 0
  #repeats = 0
  #second = 0
  #servedInSecond = 0

  /** Binds, or rejects with the error of `listen` (`EADDRINUSE` …). */
  static async start(options: FlakyUpstreamOptions): Promise<FlakyUpstream> {
    const upstream = new FlakyUpstream(options)
    upstream.#server.listen(options.port, options.host)
    await once(upstream.#server, 'listening')
    return upstream
  }

  private constructor(options: FlakyUpstreamOptions) {
    this.#options = options
    const rotation = options.rotation === undefined ? DEFAULT_ROTATION : options.rotation
    this.#switch = new ModeSwitch(options.clock, rotation, mode => options.onMode?.(mode))
    this.#server = createServer((request, response) => this.#serve(request, response))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get mode(): Mode {
    return this.#switch.mode
  }

  get stats(): FlakyStats {
    return {
      mode: this.mode,
      automatic: this.#switch.automatic,
      calls: this.#calls,
      repeats: this.#repeats,
      answers: Object.fromEntries(this.#answers),
    }
  }

  async close(): Promise<void> {
    this.#switch.stop()
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    const path = request.url ?? '/'
    if (path === '/__stats') return sendJson(response, 200, this.stats)
    if (path.startsWith('/__mode/')) return this.#command(request, response, path.slice('/__mode/'.length))
    this.#misbehave(request, response)
  }

  #command(request: IncomingMessage, response: ServerResponse, word: string): void {
    if (request.method !== 'POST') return sendJson(response, 405, { error: 'use POST' }, { allow: 'POST' })
    if (word === 'auto') this.#switch.resume()
    else if (isMode(word)) this.#switch.set(word)
    else return sendJson(response, 404, { error: `no mode ${word}`, modes: [...MODES, 'auto'] })
    sendJson(response, 200, { mode: this.mode, automatic: this.#switch.automatic })
  }

  #misbehave(request: IncomingMessage, response: ServerResponse): void {
    const attempt = attemptOf(request)
    this.#calls += 1
    if (attempt !== null && attempt > 1) this.#repeats += 1
    const reaction = react(this.mode, this.#options.random(), this.#servedThisSecond())
    if (reaction.kind === 'reset') {
      this.#count('reset')
      request.socket.resetAndDestroy()
      return
    }
    const { status, delayMs, retryAfterS } = reaction
    this.#count(String(status))
    if (status === 200) this.#servedInSecond += 1
    const told = { method: request.method, path: request.url, attempt, mode: this.mode, status, calls: this.#calls }
    const fields = retryAfterS === null ? {} : { 'retry-after': String(retryAfterS) }
    if (delayMs === 0) return sendJson(response, status, told, fields)
    const timer = this.#options.clock.after(delayMs, () => sendJson(response, status, told, fields))
    response.once('close', () => timer.cancel())
  }

  #servedThisSecond(): number {
    const second = Math.floor(this.#options.clock.nowMs() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#servedInSecond = 0
    }
    return this.#servedInSecond
  }

  #count(what: string): void {
    this.#answers.set(what, (this.#answers.get(what) ?? 0) + 1)
  }
}

/** The number that the sidecar puts on each call; `null` when the call came without one. */
function attemptOf(request: IncomingMessage): number | null {
  const attempt = Number.parseInt(String(request.headers['forbear-attempt']), 10)
  return Number.isNaN(attempt) ? null : attempt
}

function sendJson(response: ServerResponse, status: number, body: object, fields: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...fields })
  response.end(`${JSON.stringify(body)}\n`)
}
