/** A line of a policy with what is wrong in it marked, and text of a policy made safe to show. */
import { displayWidth, headWithin, tailWithin } from './display-width.js'

/** Where a terminal does not say how wide it is. */
const COLUMNS = 128
const GUTTER = 8
/** Narrower than this nothing is readable anyway. */
const LEAST = 20

export interface ExcerptOptions {
  /** Of the terminal. Default 128. */
  readonly columns?: number | undefined
  readonly paint: (marks: string) => string
}

interface Mark {
  readonly line: number
  readonly col: number
  readonly length: number
}

/** The line and, under it, a mark below what is wrong. Of a line that is too long, the part around it. */
export function excerpt(
  { line, col, length }: Mark,
  text: string,
  { columns = COLUMNS, paint }: ExcerptOptions,
): string {
  const room = Math.max(LEAST, columns - GUTTER)
  const at = col - 1
  const source = withoutPasswords(text)
  const before = leadOf(source, at, length, room)
  const left = room - displayWidth(before)
  // A column takes at least one character, but for marks on letters.
  const fault = headWithin(printable(source.slice(at, at + Math.min(length, 2 * room))), left)
  const rest = headWithin(
    printable(source.slice(at + fault.length, at + fault.length + 2 * room)),
    left - displayWidth(fault),
  )
  const marks = '^'.repeat(Math.max(1, displayWidth(fault)))
  const gutter = String(line).padStart(GUTTER - 3)
  const blank = ' '.repeat(gutter.length)
  return `${gutter} | ${before}${fault}${rest}\n${blank} | ${' '.repeat(displayWidth(before))}${paint(marks)}`
}

/** Of what an address says before its host only the length shows, so that columns stay. */
function withoutPasswords(source: string): string {
  return source.replace(/(?<=:\/\/)[^\s"'/?#]*(?=@)/g, login => '*'.repeat(login.length))
}

/** All that stands before the fault if it leaves room enough to show that, else a third of the room. */
function leadOf(source: string, at: number, length: number, room: number): string {
  const near = printable(source.slice(Math.max(0, at - 2 * room), at))
  const whole = at <= 2 * room && displayWidth(near) + Math.min(length, LEAST) <= room
  return whole ? near : tailWithin(near, Math.floor(room / 3))
}

/** Line breaks as the parser counts them: a lone carriage return is none. Splits each text once. */
export class SourceLines {
  readonly #texts: ReadonlyMap<string, string>
  readonly #lines = new Map<string, readonly string[]>()

  /** @param texts file as in the messages → its text */
  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts
  }

  /** @param line from 1 */
  at(file: string, line: number): string | undefined {
    const known = this.#lines.get(file) ?? (this.#texts.get(file) ?? '').split(/\r?\n/)
    this.#lines.set(file, known)
    return known[line - 1]
  }
}

/** A policy is text that somebody else wrote: its control characters must not reach a terminal or a log. */
export function printable(text: string): string {
  return text.replace(/\t/g, ' ').replace(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}
