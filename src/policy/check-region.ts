/** Where a message points, as reports for other tools say it. */
import { isAbsolute, relative, sep } from 'node:path'
import type { SourceLines } from './excerpt.js'
import type { PolicyMessage } from './messages.js'

/** Lines and columns from 1, columns in UTF-16 units. */
export interface Region {
  readonly line: number
  readonly column: number
  /** The column after the last; `null` = unknown. */
  readonly endColumn: number | null
}

/** `null` where the file as a whole is meant. */
export function regionOf({ file, line, col, length }: PolicyMessage, lines: SourceLines): Region | null {
  if (line === 0) return null
  // What is at fault may go on over the next lines.
  const end = (lines.at(file, line) ?? '').length + 1
  const endColumn = Math.min(col + length, end)
  return { line, column: col, endColumn: endColumn > col ? endColumn : null }
}

/** With slashes, and from `cwd` where the file lies below it: CI knows files by their path in the repository. */
export function pathFrom(cwd: string, file: string): string {
  const path = isAbsolute(file) ? relative(cwd, file) : file
  const below = path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
  return (below ? path : file).replaceAll(sep, '/')
}

/** Without place and code, which a report has fields for. */
export function plainText({ path, text, suggestion }: PolicyMessage): string {
  return `${path === '' ? '' : `${path}: `}${text}${suggestion === null ? '' : `; did you mean ${suggestion}?`}`
}
