/** Text that is no YAML, or YAML as no tool of today writes it: one message in place of what a parser makes of it. */
import type { Stop } from './yaml-stream.js'

export interface OtherFormat extends Stop {
  readonly length: number
}

const HEADER = /^\[\[?[\w.\-" ]+\]?\]\s*(#.*)?$/
const ASSIGNMENT = /^(export +)?[\w.-]+ *=(?!=) *(\S.*)?$/
/** The parser takes no CR alone for a line end, which YAML 1.2.2 §5.4 does. */
const LONE_CR = /\r(?!\n)/

export function otherFormat(text: string): OtherFormat | null {
  const cr = LONE_CR.exec(text)
  if (cr !== null) {
    const said = 'a line ends in CR alone, as on old Macs: save the file with LF line ends'
    return { code: 'FB017', text: said, offset: cr.index, length: 1 }
  }
  const { line, offset } = firstLine(text)
  const name = formatOf(line, text)
  if (name === null) return null
  const said = `not a document of forbear: it looks like ${name}; policies are YAML, with a colon between key and value`
  return { code: 'FB020', text: said, offset, length: line.length }
}

/** That is neither empty nor a comment, in any of these formats. */
function firstLine(text: string): { readonly line: string; readonly offset: number } {
  const found = /^[ \t]*(?![#;!\s])(\S.*?)[ \t]*$/m.exec(text)
  return { line: found?.[1] ?? '', offset: found === null ? 0 : found.index + found[0].indexOf(found[1] ?? '') }
}

function formatOf(line: string, text: string): string | null {
  const assigned = ASSIGNMENT.exec(line)
  // A list in brackets may be YAML; with an assignment below it is not.
  const headed = HEADER.test(line) && /^\s*[\w.-]+ *= *\S/m.test(text)
  if (assigned === null && !headed) return null
  if (headed || /^["'[{]/.test(assigned?.[2] ?? '')) return 'TOML or an INI file'
  return 'a .properties or .env file'
}
