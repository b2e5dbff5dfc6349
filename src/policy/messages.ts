/** What is wrong with a policy set: the data, and its form for people and for tools. */
import { CODES, type MessageCode } from './codes.js'

export interface PolicyMessage {
  readonly code: MessageCode
  readonly severity: 'error' | 'warning'
  /** As given on the command line plus the file's name; `''` where no file is concerned. */
  readonly file: string
  /** 1-based; 0 = the file (or directory) as a whole. */
  readonly line: number
  /** 1-based, in UTF-16 units; 0 with line 0. */
  readonly col: number
  /** Length of the text at fault on that line; 0 = unknown. */
  readonly length: number
  /** `spec.retry.maxAttempts`, from the top of the document; `''` where none is concerned. */
  readonly path: string
  /** What is wrong, the value, what is allowed. */
  readonly text: string
  /** Nearest right key or value, where one is near. */
  readonly suggestion: string | null
}

export interface FormatOptions {
  /** Default false. */
  readonly color?: boolean
  /** File as in the messages → its text: shows the line with a caret. */
  readonly sources?: ReadonlyMap<string, string>
}

/** A message about a file, or the directory, as a whole. */
export function fileMessage(code: MessageCode, file: string, text: string): PolicyMessage {
  return { code, severity: CODES[code].severity, file, line: 0, col: 0, length: 0, path: '', text, suggestion: null }
}

/** One per mistake, by file, then by position in it: a stable order, whatever found them. */
export function distinctMessages(list: readonly PolicyMessage[]): PolicyMessage[] {
  const seen = new Set<string>()
  return sorted(list).filter(message => {
    // What an anchor or a Policy gets wrong would come again with each use. Missing keys share the place of their mapping.
    const rest = message.code === 'FB032' || message.line === 0 ? message.text : ''
    const key = `${message.code} ${message.file}:${message.line}:${message.col} ${rest}`
    return !seen.has(key) && seen.add(key)
  })
}

function sorted(list: readonly PolicyMessage[]): PolicyMessage[] {
  return [...list].sort(
    (a, b) =>
      compare(a.file, b.file) || a.line - b.line || a.col - b.col || compare(a.code, b.code) || compare(a.text, b.text),
  )
}

/** One line without colour: `file:line:col  path  what is wrong [code]`. */
export function formatMessage(message: PolicyMessage): string {
  return printable([place(message), message.path, sentence(message)].filter(part => part !== '').join('  '))
}

/** One message after the other; with `sources`, each followed by its source line and a caret. */
export function formatMessages(list: readonly PolicyMessage[], options: FormatOptions = {}): string {
  return list.map(message => formatOne(message, options)).join('\n')
}

function formatOne(message: PolicyMessage, { color = false, sources }: FormatOptions): string {
  const head = color ? colored(message) : formatMessage(message)
  const line = message.line === 0 ? undefined : sources?.get(message.file)?.split(/\r\n|\n|\r/)[message.line - 1]
  return line === undefined ? head : `${head}\n${excerpt(message, line, color)}`
}

function place({ file, line, col }: PolicyMessage): string {
  return line === 0 ? file : `${file}:${line}:${col}`
}

function sentence({ severity, text, suggestion, code }: PolicyMessage): string {
  const hint = suggestion === null ? '' : `; did you mean ${suggestion}?`
  return `${severity === 'warning' ? 'warning: ' : ''}${text}${hint} [${code}]`
}

const paint = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m`

function colored(message: PolicyMessage): string {
  const tint = message.severity === 'error' ? 31 : 33
  const parts = [place(message), message.path, sentence(message)].map(printable)
  return [paint(1, parts[0] ?? ''), parts[1] ?? '', paint(tint, parts[2] ?? '')].filter(part => part !== '').join('  ')
}

/** Longest piece of a source line that is shown. */
const WIDTH = 120

function excerpt({ line, col, length }: PolicyMessage, source: string, color: boolean): string {
  const from = col - 1 > WIDTH - 20 ? col - 41 : 0
  const shown = printable(source.slice(from, from + WIDTH))
  const at = col - 1 - from
  const marks = '^'.repeat(Math.max(1, Math.min(length, shown.length - at)))
  const gutter = String(line).padStart(5)
  const caret = `${' '.repeat(at)}${color ? paint(36, marks) : marks}`
  return `${gutter} | ${shown}\n${' '.repeat(gutter.length)} | ${caret}`
}

/** A policy is text that somebody else wrote: its control characters must not reach a terminal or a log. */
function printable(text: string): string {
  return text.replace(/\t/g, ' ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
