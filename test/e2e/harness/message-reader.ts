/** HTTP/1.1 messages of either side from a byte stream, read strictly: for tests in which no byte may be wrong. */

export type Framing =
  | { readonly kind: 'none' | 'chunked' | 'close' }
  | { readonly kind: 'length'; readonly bytes: number }

export interface Head {
  readonly startLine: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

export interface MessageListener {
  /** Says how the body is framed. */
  onHead(head: Head): Framing
  /** latin1 */
  onBody(text: string): void
  onMessage(): void
}

type Expecting = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'trailers' | 'close'

const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/

export class MessageReader {
  #rest = ''
  #expecting: Expecting = 'head'
  #missing = 0

  constructor(readonly listener: MessageListener) {}

  /** Between two messages, with not a byte of the next. */
  get atRest(): boolean {
    return this.#expecting === 'head' && this.#rest === ''
  }

  /** Throws at the first byte that cannot be. */
  push(chunk: Buffer): void {
    this.#rest += chunk.toString('latin1')
    while (this.#step());
  }

  /** The other side has ended in good order. */
  end(): void {
    if (this.#expecting === 'close') this.#finish()
  }

  #step(): boolean {
    switch (this.#expecting) {
      case 'head':
        return this.#upTo('\r\n\r\n', text => this.#head(text))
      case 'size':
        return this.#upTo('\r\n', line => this.#size(line))
      case 'chunk-end':
        return this.#upTo('\r\n', line => {
          if (line !== '') throw new Error(`chunk is longer than it says: ${JSON.stringify(line.slice(0, 40))}`)
          this.#expecting = 'size'
        })
      case 'trailers':
        return this.#upTo('\r\n', line => {
          if (line === '') this.#finish()
          else readField(line)
        })
      default:
        return this.#body()
    }
  }

  #upTo(mark: string, take: (text: string) => void): boolean {
    const at = this.#rest.indexOf(mark)
    if (at < 0) return false
    const text = this.#rest.slice(0, at)
    this.#rest = this.#rest.slice(at + mark.length)
    take(text)
    return true
  }

  #body(): boolean {
    if (this.#rest === '') return false
    const bytes = this.#expecting === 'close' ? this.#rest.length : Math.min(this.#missing, this.#rest.length)
    this.listener.onBody(this.#rest.slice(0, bytes))
    this.#rest = this.#rest.slice(bytes)
    if (this.#expecting === 'close') return false
    this.#missing -= bytes
    if (this.#missing > 0) return false
    if (this.#expecting === 'chunk') this.#expecting = 'chunk-end'
    else this.#finish()
    return true
  }

  #head(text: string): void {
    const [startLine = '', ...lines] = text.split('\r\n')
    const framing = this.listener.onHead({ startLine, fields: lines.map(readField) })
    if (framing.kind === 'length' && framing.bytes > 0) {
      this.#missing = framing.bytes
      this.#expecting = 'length'
    } else if (framing.kind === 'chunked') this.#expecting = 'size'
    else if (framing.kind === 'close') this.#expecting = 'close'
    else this.#finish()
  }

  #size(line: string): void {
    if (!/^[0-9a-f]{1,8}$/i.test(line)) throw new Error(`not a chunk size: ${JSON.stringify(line.slice(0, 40))}`)
    this.#missing = Number.parseInt(line, 16)
    this.#expecting = this.#missing === 0 ? 'trailers' : 'chunk'
  }

  #finish(): void {
    this.#expecting = 'head'
    this.listener.onMessage()
  }
}

/** Of a message whose fields say it; `null` = they say nothing. Throws where they contradict each other. */
export function declaredFraming({ fields }: Head): Framing | null {
  const lengths = valuesOf(fields, 'content-length')
  const codings = valuesOf(fields, 'transfer-encoding')
  if (lengths.length + codings.length > 1) throw new Error(`framed more than once: ${[...lengths, ...codings]}`)
  const [length] = lengths
  if (length !== undefined) {
    if (!/^\d+$/.test(length)) throw new Error(`not a length: ${length}`)
    return { kind: 'length', bytes: Number(length) }
  }
  if (codings[0] === undefined) return null
  if (codings[0] !== 'chunked') throw new Error(`not a coding for both sides: ${codings[0]}`)
  return { kind: 'chunked' }
}

export function valuesOf(fields: Head['fields'], name: string): string[] {
  return fields.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value)
}

function readField(line: string): readonly [string, string] {
  const [, name, value] = FIELD.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Error(`not a field: ${JSON.stringify(line.slice(0, 80))}`)
  return [name, value]
}
