/** What an upstream may do to one request, as data: bytes, where they break off, and how the connection goes on. */
import fc from 'fast-check'

export interface Reply {
  readonly bytes: Answer | { readonly garbage: string }
  /** Answers before or after the body of the request has been read. */
  readonly after: 'head' | 'body'
  readonly delayMs: number
  /** Share of the bytes that are written; 1 = all. */
  readonly share: number
  /** `late-fin` ends a connection that may already carry, or be about to carry, the next request. */
  readonly then: 'keep' | 'fin' | 'late-fin' | 'reset' | 'hang'
  /** Bytes a write; `null` = all in one. */
  readonly pieceBytes: number | null
  readonly pauseMs: number
}

export interface Answer {
  readonly status: number
  readonly framing: 'length' | 'chunked' | 'close'
  readonly bodyBytes: number
  readonly interims: readonly number[]
  /** Of one more field. */
  readonly fieldBytes: number
  readonly retryAfter: string | null
  /** Sends it a second time at once: an answer that nobody asked for. */
  readonly twice: boolean
}

/** Of which exchange an answer is, and of which of its attempts: in a field, and in every byte of the body. */
export const tagOf = (id: string, attempt: number): string => `${id}.${attempt}`

export function taggedBody(tag: string, bytes: number): string {
  const unit = `${tag};`
  return unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes)
}

export const hasNoBody = (method: string, status: number): boolean =>
  method === 'HEAD' || status === 204 || status === 304

/** All bytes of a reply, of which `share` cuts; latin1. */
export function render({ bytes }: Reply, method: string, tag: string): string {
  if ('garbage' in bytes) return bytes.garbage
  const interims = bytes.interims.map(status => `HTTP/1.1 ${status} Wait\r\nX-Interim: ${tag}\r\n\r\n`).join('')
  const answer = renderAnswer(bytes, method, tag)
  return interims + answer + (bytes.twice ? answer : '')
}

function renderAnswer(answer: Answer, method: string, tag: string): string {
  const { status, framing, bodyBytes, fieldBytes, retryAfter } = answer
  const empty = hasNoBody(method, status)
  const body = empty ? '' : taggedBody(tag, bodyBytes)
  const fields = [`X-Tag: ${tag}`]
  if (retryAfter !== null) fields.push(`Retry-After: ${retryAfter}`)
  if (fieldBytes > 0) fields.push(`X-Long: ${'y'.repeat(fieldBytes)}`)
  if (framing === 'length' && !empty) fields.push(`Content-Length: ${body.length}`)
  if (framing === 'chunked' && !empty) fields.push('Transfer-Encoding: chunked')
  if (framing === 'close') fields.push('Connection: close')
  const framed = framing === 'chunked' && !empty ? chunked(body) : body
  return `HTTP/1.1 ${status} Tagged\r\n${fields.join('\r\n')}\r\n\r\n${framed}`
}

function chunked(body: string): string {
  const middle = Math.ceil(body.length / 2)
  const chunks = [body.slice(0, middle), body.slice(middle)].filter(one => one !== '')
  return `${chunks.map(one => `${one.length.toString(16)}\r\n${one}\r\n`).join('')}0\r\n\r\n`
}

/** Bytes that are no answer, or only look like one. */
const garbage = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 200 }).map(bytes => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom(
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP/1.1 99 Low\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
    'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'HTTP/1.1 200 OK\r\nX-Bad\0: 1\r\nContent-Length: 0\r\n\r\n',
    '<html>not HTTP</html>\n',
    '\r\n\r\n\r\n',
  ),
)

const often = <T>(usual: T, ...rare: readonly fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof(
    { arbitrary: fc.constant(usual), weight: 3 * rare.length },
    ...rare.map(arbitrary => ({ arbitrary, weight: 1 })),
  )

const answer: fc.Arbitrary<Answer> = fc
  .record({
    status: fc.constantFrom(200, 200, 200, 201, 204, 304, 404, 409, 429, 500, 502, 503, 503, 504),
    framing: fc.constantFrom('length' as const, 'chunked' as const, 'close' as const),
    bodyBytes: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 }), fc.integer({ min: 301, max: 40_000 })),
    interims: often<readonly number[]>(
      [],
      fc.array(fc.constantFrom(102, 103), { minLength: 1, maxLength: 3 }),
      fc.constant(Array.from({ length: 150 }, () => 102)),
      fc.constant([100]),
    ),
    fieldBytes: often(0, fc.constantFrom(3_000, 15_000, 20_000, 200_000)),
    retryAfter: often<string | null>(null, fc.constantFrom('0', '1', '3600', 'soon')),
    twice: often(false, fc.constant(true)),
  })
  // A second answer can be told from the next request's only while it is in one piece with the first, and framed.
  .map(one => {
    if (!one.twice) return one
    const framing = one.framing === 'close' ? 'length' : one.framing
    return { ...one, framing, bodyBytes: Math.min(one.bodyBytes, 300), fieldBytes: 0, interims: [] }
  })

const well: fc.Arbitrary<Reply> = fc
  .record({
    bytes: answer,
    after: often<'head' | 'body'>('body', fc.constant('head')),
    delayMs: often(0, fc.integer({ min: 1, max: 60 })),
    share: fc.constant(1),
    then: often<Reply['then']>('keep', fc.constant('fin'), fc.constant('late-fin')),
    pieceBytes: fc.constant(null),
    pauseMs: fc.constant(0),
  })
  .map(reply => (reply.bytes.framing === 'close' ? { ...reply, then: 'fin' } : reply))

const broken: fc.Arbitrary<Reply> = fc.record({
  bytes: fc.oneof({ arbitrary: answer, weight: 4 }, { arbitrary: fc.record({ garbage }), weight: 1 }),
  after: fc.constantFrom('head' as const, 'body' as const),
  delayMs: often(0, fc.integer({ min: 1, max: 60 })),
  share: fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  then: fc.constantFrom('fin', 'reset', 'hang', 'late-fin'),
  pieceBytes: fc.constant(null),
  pauseMs: fc.constant(0),
})

/** As `well`, but in pieces with pauses: at every byte, or dripped slower than a clock allows for a head. */
const dripped: fc.Arbitrary<Reply> = fc
  .record({ reply: well, pieceBytes: fc.constantFrom(1, 2, 7, 900), pauseMs: fc.constantFrom(0, 0, 5, 40) })
  .map(({ reply, ...pieces }) => {
    const bytes = { ...(reply.bytes as Answer), twice: false }
    // No clock cuts a body that drips, and it has to end within the test.
    const short = { bodyBytes: Math.min(bytes.bodyBytes, 50), fieldBytes: 0, interims: bytes.interims.slice(0, 3) }
    return { ...reply, ...pieces, bytes: pieces.pauseMs > 0 ? { ...bytes, ...short } : bytes }
  })

export const reply: fc.Arbitrary<Reply> = fc.oneof(
  { arbitrary: well, weight: 4 },
  { arbitrary: broken, weight: 4 },
  { arbitrary: dripped, weight: 1 },
)
