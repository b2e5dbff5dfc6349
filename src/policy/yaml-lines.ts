/** What one line of broken YAML was probably meant to be. */
import type { MessageCode } from './codes.js'
import type { Span } from './document.js'
import { listText } from './schema-words.js'

export interface Explained {
  /** Default: FB010. */
  readonly code?: MessageCode
  readonly text: string
  readonly mark: Span
}

export interface Line {
  readonly start: number
  /** Without its line end. */
  readonly end: number
  readonly text: string
  /** Of its first character that is not a space. */
  readonly first: number
}

export function lineAt(text: string, offset: number): Line {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const next = text.indexOf('\n', offset)
  const end = next === -1 ? text.length : text[next - 1] === '\r' && next > start ? next - 1 : next
  const line = text.slice(start, Math.max(start, end))
  return { start, end: start + line.length, text: line, first: start + (/[^ ]/.exec(line)?.index ?? line.length) }
}

/** The next line that is neither blank nor a comment. */
export function lineAfter(text: string, { end }: Line): Line | null {
  for (let at = text.indexOf('\n', end); at !== -1; at = text.indexOf('\n', at + 1)) {
    const line = lineAt(text, at + 1)
    if (/^\s*[^\s#]/.test(line.text)) return line
  }
  return null
}

const SHOWN = 60

/** In quotes as one would write it in YAML, cut to a length that fits a message. */
export function inQuotes(value: string): string {
  const short = value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value
  return /["\\]/.test(short) ? `'${short.replaceAll("'", "''")}'` : `"${short}"`
}

/** A line at which a key was expected, and which is none. */
export function lineWithoutKey(text: string, offset: number): Explained {
  const line = lineAt(text, offset)
  const tab = /^ *\t/.exec(line.text)
  if (tab !== null) return tabAt(line.start + tab[0].length - 1)
  const bare = line.text.replace(/\s+#.*$/, '').trim()
  const item = bare.replace(/^- +/, '')
  const start = line.start + Math.max(0, line.text.indexOf(item))
  if (bare === '---') return { text: hiddenMark(line.text), mark: { start, end: start + 3 } }
  return { text: missing(item, bare), mark: { start, end: start + Math.max(1, item.length) } }
}

/** `---` that is none, because something stands before it. */
function hiddenMark(line: string): string {
  return line.trimStart() === line || line.includes('\ufeff')
    ? 'an invisible mark (BOM, U+FEFF) stands before ---: remove it'
    : '--- must begin at column 1: remove the spaces before it'
}

function missing(item: string, bare: string): string {
  if (/^-{2,}$/.test(bare)) return `${bare} stands between no documents: the mark is exactly three dashes, ---`
  const [quoted] = /^"[^"]*"(?= *:)/.exec(item) ?? []
  if (quoted !== undefined) return `a comma is missing before ${shorten(quoted)}`
  const [, glued, value] = /^([\w.-]+):(\S.*)$/.exec(item) ?? []
  if (glued !== undefined) return `a space is missing after the colon: write ${glued}: ${shorten(value)}`
  const [, name, equal] = /^([\w.-]+) *=> *(\S.*)$/.exec(item) ?? /^([\w.-]+) *= *(\S.*)$/.exec(item) ?? []
  if (name !== undefined) return `a key and its value are parted by a colon: write ${name}: ${shorten(equal)}`
  const [, dashed] = /^-([A-Za-z].*)$/.exec(item) ?? []
  if (dashed !== undefined) return `a space is missing after the dash: write - ${shorten(dashed)}`
  if (bare.startsWith('- ') || bare === '-')
    return 'a list item where a key is expected: indent it below the key of its list'
  const [, key, rest] = /^([\w.-]+)(?: +(\S.*))?$/.exec(item) ?? []
  if (key !== undefined) {
    return `a colon is missing after ${key}${rest === undefined ? '' : `: write ${key}: ${shorten(rest)}`}`
  }
  return 'this line is neither "key: value" nor a list item'
}

function shorten(text = ''): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** A line that begins in a column in which nothing around it begins. */
export function misplacedLine(text: string, offset: number): Explained {
  const line = lineAt(text, offset)
  const mark = { start: line.first, end: line.end }
  const tab = text.slice(line.start, line.first + 1).indexOf('\t')
  if (tab !== -1) return tabAt(line.start + tab)
  const own = line.first - line.start
  const columns = openColumns(text, line)
  const near = columns.length === 0 ? '' : `, where the lines above begin after ${listText(columns.map(String))}`
  return { text: `this line begins after ${own} space${own === 1 ? '' : 's'}${near}: align it`, mark }
}

export function tabAt(start: number): Explained {
  return { text: 'a tab where spaces belong: YAML is indented with spaces only', mark: { start, end: start + 1 } }
}

/** Indentations of what the line could still belong to, outermost first. */
function openColumns(text: string, from: Line): number[] {
  const columns: number[] = []
  let line = from
  while (line.start > 0) {
    line = lineAt(text, line.start - 1)
    if (/^(---|\.\.\.)/.test(line.text)) break
    if (/^\s*(#|$)/.test(line.text)) continue
    const column = line.first - line.start
    // The key behind a dash begins two further in.
    const inner = column + (/^- +/.exec(line.text.trimStart())?.[0].length ?? 0)
    if (inner > column && (columns[0] === undefined || inner < columns[0])) columns.unshift(inner)
    if (columns[0] === undefined || column < columns[0]) columns.unshift(column)
    if (column === 0) break
  }
  return columns
}

const END = /,(?= |$)| [}\]#]/

/** An unquoted value that one of `{ } [ ]` cut in two: the whole of it, and its key. */
export function cutValue(
  text: string,
  offset: number,
): { readonly value: string; readonly key: string; readonly start: number } {
  const line = lineAt(text, offset)
  const before = text.slice(line.start, offset)
  const start = line.start + before.length - (/[^\s{[,]*$/.exec(before)?.[0].length ?? 0)
  const rest = text.slice(offset + 1, line.end)
  let value = text.slice(start, offset + 1 + (END.exec(rest)?.index ?? rest.length)).trimEnd()
  // What is closed more often than opened closes something around it.
  while (/[}\]]$/.test(value) && surplus(value)) value = value.slice(0, -1).trimEnd()
  return { value, key: /([\w-]+): *$/.exec(text.slice(line.start, start))?.[1] ?? '', start }
}

function surplus(value: string): boolean {
  const count = (pattern: RegExp) => value.match(pattern)?.length ?? 0
  return count(/}/g) > count(/{/g) || count(/]/g) > count(/\[/g)
}
