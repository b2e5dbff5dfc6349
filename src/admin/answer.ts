/** What a page answers, as a value; `http-server` puts it on the wire. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import { storeText } from '../core/park.js'

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** Writes the body bit by bit, and ends it, in place of `body`. */
  readonly stream?: (response: ServerResponse) => void
  /** Runs once the answer has left, or its reader has. */
  readonly afterwards?: () => void
}

export function text(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body }
}

export function json(value: unknown, status = 200): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(plain(value), null, 2)}\n` }
}

/** RFC 9457; `more` adds members. */
export function problem(status: number, detail: string, more: Readonly<Record<string, unknown>> = {}): Answer {
  const body = { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, ...more }
  return { ...json(body, status), contentType: 'application/problem+json' }
}

export function methodNotAllowed(allow: string): Answer {
  return { ...problem(405, `allowed here: ${allow}`), headers: { allow } }
}

/** The address of a store may hold a password, also where a message quotes it. */
export function withoutPasswords(text: string): string {
  return text.replace(/(rediss?:\/\/)[^\s"'<>]*@/g, '$1***@')
}

/** JSON has no sets, maps or infinity: lists, objects and `"none"` (a clock that never ends) stand for them. */
function plain(value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return 'none'
  if (typeof value === 'string') return plainText(value)
  if (value instanceof Set) return [...value].map(plain)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [String(key), plain(each)]))
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
  }
  return value
}

/** The query of a hook is often its password; no other URL has one. */
function plainText(value: string): string {
  if (/^rediss?:/.test(value)) return storeText(value)
  return withoutPasswords(/^https?:\/\/\S+$/.test(value) ? value.replace(/\?.*/, '?***') : value)
}
