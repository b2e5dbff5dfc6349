/** One YAML document as plain values, and where each of them stands in its file. */
import { CODES, type MessageCode } from './codes.js'
import { type Lines, positionAt } from './lines.js'
import type { PolicyMessage } from './messages.js'

/** Keys and indices from the top of a document. */
export type Path = readonly (string | number)[]

/** Offsets in the piece of the file that was parsed, UTF-16 units, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** An entry of a mapping or list. What an alias or a merge key brought in stands at its anchor. */
export interface Entry {
  /** `null` in a list. */
  readonly key: Span | null
  readonly value: Span
  /** A scalar as written, without quotes; `null` for collections. */
  readonly source: string | null
  readonly quoted: boolean
}

export interface ParsedDocument {
  /** As messages name it. */
  readonly file: string
  readonly lines: Lines
  readonly top: Span
  /** Of the text that it was parsed from, told with the first of its documents: a file has room for so many. */
  readonly tokens: number
  /** Frozen; mappings have no prototype. */
  readonly root: unknown
  readonly entries: ReadonlyMap<object, ReadonlyMap<string, Entry>>
  /** False when the YAML is so broken that `root` cannot be judged. */
  readonly readable: boolean
  /** Readable, and without any mistake of YAML. */
  readonly intact: boolean
}

export interface Finding {
  readonly code: MessageCode
  readonly path: Path
  readonly text: string
  /** What the caret marks. Default: the value at `path`, or the innermost thing above it that was written. */
  readonly mark?: 'key' | Span
  readonly suggestion?: string | null
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

export function entryAt(document: ParsedDocument, path: Path): Entry | null {
  const last = path.at(-1)
  const parent = last === undefined ? undefined : valueAt(document.root, path.slice(0, -1))
  if (typeof parent !== 'object' || parent === null) return null
  return document.entries.get(parent)?.get(String(last)) ?? null
}

export function message(document: ParsedDocument, finding: Finding): PolicyMessage {
  const span = spanOf(document, finding)
  const { line, col } = positionAt(document.lines, span.start)
  return {
    code: finding.code,
    severity: CODES[finding.code].severity,
    file: document.file,
    line,
    col,
    length: span.end - span.start,
    path: pathText(finding.path),
    text: finding.text,
    suggestion: finding.suggestion ?? null,
  }
}

function spanOf(document: ParsedDocument, { path, mark }: Pick<Finding, 'path' | 'mark'>): Span {
  if (typeof mark === 'object') return mark
  for (let length = path.length; length > 0; length--) {
    const entry = entryAt(document, path.slice(0, length))
    if (entry === null) continue
    // What is missing is missing under a key.
    return length < path.length || mark === 'key' ? (entry.key ?? entry.value) : entry.value
  }
  return document.top
}

/** Where the value at `path` stands. */
export function placeOf(document: ParsedDocument, path: Path): { file: string; line: number; col: number } {
  const { line, col } = positionAt(document.lines, spanOf(document, { path }).start)
  return { file: document.file, line, col }
}

/** `file:line` of what was written at `path`, to be named in another message. */
export function whereText(document: ParsedDocument, path: Path): string {
  const { line } = positionAt(document.lines, spanOf(document, { path, mark: 'key' }).start)
  return `${document.file}:${line}`
}

export function pathText(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (/^[\w-]+$/.test(step)) text += text === '' ? step : `.${step}`
    else text += `[${JSON.stringify(step.slice(0, 100))}]`
  }
  return text
}
