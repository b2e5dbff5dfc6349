/** The app: plain HTTP/1.1 calls to a port of 127.0.0.1, with nothing normalised on the way. */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { nowMs } from './time.js'

export interface CallOptions {
  readonly method?: string
  /** Or a flat list, to keep case, order and repetitions: name, value, name, value … */
  readonly headers?: OutgoingHttpHeaders | readonly string[]
  /** A stream goes out chunked unless `Content-Length` is among the headers. */
  readonly body?: string | Buffer | AsyncIterable<Buffer>
  /** Default: a connection of its own. */
  readonly agent?: Agent
  /** Gives up on the whole call; default 25 s. */
  readonly timeoutMs?: number
  /** Ends the call from the app's side. */
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly trailers: Readonly<Record<string, string | undefined>>
  /** Interim statuses in order of arrival. */
  readonly interim: readonly number[]
  readonly body: Buffer
  readonly text: string
  /** From the call to the end of the body. */
  readonly elapsedMs: number
}

/** An RFC 9457 body as forbear writes it. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly upstream?: string
  readonly attempts?: number
  readonly reason: string
}

/** The body of one of forbear's own answers; throws when it is something else. */
export function problem(answer: Answer): Problem {
  const type = answer.headers['content-type'] ?? ''
  if (!type.startsWith('application/problem+json')) throw new Error(`not a problem: ${type}: ${answer.text}`)
  return JSON.parse(answer.text) as Problem
}

/** Rejects when no complete answer comes: connection refused, reset, or a body that breaks off. */
export async function call(port: number, path: string, options: CallOptions = {}): Promise<Answer> {
  const startedMs = nowMs()
  const interim: number[] = []
  const res = await open(port, path, options, status => interim.push(status))
  const parts: Buffer[] = []
  for await (const chunk of res as AsyncIterable<Buffer>) parts.push(chunk)
  const body = Buffer.concat(parts)
  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    rawHeaders: res.rawHeaders,
    trailers: res.trailers,
    interim,
    body,
    text: body.toString(),
    elapsedMs: nowMs() - startedMs,
  }
}

/** The answer's head with its body still to be read. */
export function open(
  port: number,
  path: string,
  options: CallOptions = {},
  onInterim: (status: number) => void = () => {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? 25_000)
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout
    const { method = 'GET', headers = {}, agent = new Agent() } = options
    const req = request({ host: '127.0.0.1', port, path, method, headers, agent, signal })
    req.on('information', ({ statusCode }) => onInterim(statusCode))
    req.on('response', resolve)
    req.on('error', reject)
    if (options.body === undefined) {
      req.end()
    } else if (typeof options.body === 'string' || Buffer.isBuffer(options.body)) {
      // Node writes a text body and the head in one piece, and then encodes the head as UTF-8 too.
      req.end(Buffer.from(options.body))
    } else {
      Readable.from(options.body, { objectMode: false })
        .on('error', error => req.destroy(error))
        .pipe(req)
    }
  })
}

/** Sends the bytes as they are; gives what came back (latin1) when the other side closes or `quietMs` pass in silence. */
export function rawCall(port: number, bytes: string, quietMs = 1_500): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setTimeout(quietMs, () => socket.destroy())
    socket.on('data', chunk => {
      received += chunk.toString('latin1')
    })
    socket.on('error', error => (received ? resolve(received) : reject(error)))
    socket.on('close', () => resolve(received))
  })
}

/** As `rawCall`, for bytes after which the sidecar closes the connection, however busy the machine is. */
export const lastCall = (port: number, bytes: string): Promise<string> => rawCall(port, bytes, 10_000)

/** Whether something accepts connections on the port. */
export function listens(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
