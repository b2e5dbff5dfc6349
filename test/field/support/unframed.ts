/** One message from its first byte on, as RFC 9112 §6 reads it. */
export interface Message {
  readonly head: string
  /** Framing fields as sent, lower case. */
  readonly framing: readonly string[]
  readonly body: string
  /** What follows the message on the connection. */
  readonly rest: string
}

export function unframed(text: string): Message {
  const end = text.indexOf('\r\n\r\n') + 4
  const head = text.slice(0, end)
  const framing = head.toLowerCase().match(/^(?:transfer-encoding|content-length):.*$/gm) ?? []
  const length = /^content-length: (\d+)/.exec(framing[0] ?? '')?.[1]
  const [body, after] = framing[0]?.startsWith('transfer') ? chunks(text, end) : plain(text, end, Number(length ?? 0))
  return { head, framing: framing.map(line => line.trim()), body, rest: text.slice(after) }
}

function plain(text: string, from: number, length: number): [string, number] {
  return [text.slice(from, from + length), from + length]
}

/** Without trailers. */
function chunks(text: string, from: number): [string, number] {
  let at = from
  let body = ''
  for (;;) {
    const end = text.indexOf('\r\n', at)
    const bytes = Number.parseInt(text.slice(at, end), 16)
    if (!(bytes > 0)) return [body, end + 4]
    body += text.slice(end + 2, end + 2 + bytes)
    at = end + 4 + bytes
  }
}
