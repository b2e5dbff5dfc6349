/** What is wrong with a policy set: the data, and its form for people and for tools. */
import { CODES, type MessageCode } from './codes.js'
import { excerpt, printable, SourceLines } from './excerpt.js'

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
  /** Width of the terminal, for the source lines. */
  readonly columns?: number | undefined
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
  const lines = options.sources === undefined ? null : new SourceLines(options.sources)
  return list.map(message => formatOne(message, lines, options)).join('\n')
}

function formatOne(
  message: PolicyMessage,
  lines: SourceLines | null,
  { color = false, columns }: FormatOptions,
): string {
  const head = color ? colored(message) : formatMessage(message)
  const line = lines?.at(message.file, message.line)
  if (line === undefined || message.line === 0) return head
  return `${head}\n${excerpt(message, line, { columns, paint: marks => (color ? paint(36, marks) : marks) })}`
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
