/** What the YAML parser stumbled over, as a sentence for whoever wrote it, at the place where the mistake is. */
import type { Document, YAMLError } from 'yaml'
import { variableInLine } from './variables.js'
import {
  cutValue,
  type Explained,
  inQuotes,
  lineAfter,
  lineAt,
  lineWithoutKey,
  misplacedLine,
  tabAt,
} from './yaml-lines.js'
import { closesLater, quotedBefore, unclosed } from './yaml-open.js'

interface Stumble {
  readonly source: string
  readonly document: Document.Parsed
  readonly said: string
  readonly start: number
  readonly end: number
}

type Explain = (stumble: Stumble) => Explained | null

/** By the code of the parser; `null` falls back to the parser's own words. */
const BY_CODE: Readonly<Record<string, Explain>> = {
  TAB_AS_INDENT: ({ source, start }) => tabAt(source.indexOf('\t', Math.min(start, lineAt(source, start).first))),
  BAD_SCALAR_START: scalarStart,
  BAD_ALIAS: ({ source, start }) => mustBeQuoted(source, start),
  BAD_DQ_ESCAPE: ({ start, end }) => ({
    text: 'a backslash in double quotes begins an escape: write \\\\, or use single quotes',
    mark: { start, end: end + 1 },
  }),
  BAD_INDENT: badIndent,
  BLOCK_AS_IMPLICIT_KEY: valueAndKey,
  BLOCK_IN_FLOW: blockInFlow,
  KEY_OVER_1024_CHARS: ({ start }) => ({
    text: 'a key of more than 1024 characters: is a quote or a line end missing?',
    mark: { start, end: start + 1 },
  }),
  MISSING_CHAR: missingCharacter,
  MULTILINE_IMPLICIT_KEY: stumble => openQuote(stumble) ?? lineWithoutKey(stumble.source, stumble.start),
  UNEXPECTED_TOKEN: unexpected,
  MULTIPLE_ANCHORS: ({ source, start }) => mustBeQuoted(source, start),
}

/** The end of a line stands for the line below it. */
export function stumbleAt(source: string, { pos: [start] }: YAMLError): number {
  return source[start] === '\n' && start + 1 < source.length ? start + 1 : start
}

export function explainMistake(source: string, document: Document.Parsed, error: YAMLError): Explained {
  const conflict = /^<{7} .*$/m.exec(source)
  if (conflict !== null) {
    const text = 'a merge conflict was left in the file: keep one of its sides and remove the marks'
    return { text, mark: { start: conflict.index, end: conflict.index + conflict[0].length } }
  }
  const said = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? error.message
  const start = stumbleAt(source, error)
  const end = Math.max(start + 1, error.pos[1])
  const explained = BY_CODE[error.code]?.({ source, document, said, start, end })
  return variableInLine(lineAt(source, start)) ?? explained ?? { text: `not valid YAML: ${said}`, mark: { start, end } }
}

function scalarStart({ source, start }: Stumble): Explained | null {
  if (source[start] === '%' && start === lineAt(source, start).start) {
    return { text: 'a % line stands only at the top of a file, before ---', mark: { start, end: start + 1 } }
  }
  return mustBeQuoted(source, start)
}

function mustBeQuoted(source: string, start: number): Explained {
  const line = lineAt(source, start)
  const rest = source.slice(start, line.end)
  const value = (/^[^\s,}\]]*(?: [^\s,}\]#:]+)*/.exec(rest)?.[0] ?? rest) || rest
  const text = `a value that begins with ${source[start]} must be in quotes: ${inQuotes(value)}`
  return { text, mark: { start, end: start + Math.max(1, value.length) } }
}

function mustBeWhole(source: string, offset: number): Explained {
  const { value, key, start } = cutValue(source, offset)
  const what = key === 'path' || key === 'pathPrefix' ? 'the path' : 'the value'
  const text = `${source[offset]} ends an unquoted value: put ${what} in quotes, ${inQuotes(value)}`
  return { text, mark: { start, end: start + Math.max(1, value.length) } }
}

/** A quoted text that runs over its line: what closes it was meant to open another. */
function openQuote(stumble: Stumble): Explained | null {
  const quoted = quotedBefore(stumble.document, stumble.start)
  if (quoted === null) return null
  const { source, start } = stumble
  const runsOn = lineAt(source, quoted.start).end < quoted.end
  const near = quoted.end <= start && source.slice(quoted.end, start).trim() === ''
  if (!runsOn || !(near || quoted.start === start)) return null
  return {
    text: 'the quote opened here is not closed on its line',
    mark: { start: quoted.start, end: quoted.start + 1 },
  }
}

function badIndent(stumble: Stumble): Explained {
  const { source, said, start } = stumble
  const match = /^Flow (map|sequence)/.exec(said)
  if (match === null) return misplacedLine(source, start)
  const char = source[start] ?? ''
  const [open, close] = match[1] === 'map' ? ['{', '}'] : ['[', ']']
  if (/[\w/-]/.test(source[start - 1] ?? '') && /[{}[\]]/.test(char) && /[\w/-]/.test(source[start + 1] ?? '')) {
    return mustBeWhole(source, start)
  }
  const line = lineAt(source, start)
  const tab = source.slice(line.start, start).search(/\t/)
  if (tab !== -1 && source.slice(line.start, start).trim() === '') return tabAt(line.start + tab)
  if (/[}\]]/.test(char) && char !== close && source.slice(0, start).trimEnd().endsWith(char))
    return oneTooMany(source, start)
  const at = unclosed(source, stumble.document, start + 1)
  const atLineStart = source.slice(line.start, start).trim() === ''
  if (atLineStart && at !== null && closesLater(source, at)) {
    const text = `what stands between ${open} and ${close} must be indented deeper than its key, ${close} too`
    return { text, mark: { start: line.first, end: line.end } }
  }
  const before = /[}\]]/.test(char) && !atLineStart ? ` before this ${char}` : ''
  const opened = at ?? start
  const where = before === '' ? '' : `: ${close} is missing`
  return { text: `the ${open} opened here is not closed${before}${where}`, mark: { start: opened, end: opened + 1 } }
}

/** `a: b: c`, a key indented deeper than its neighbour, or a list item among keys. */
function valueAndKey({ source, said, start }: Stumble): Explained {
  const line = lineAt(source, start)
  if (/block sequence/.test(said)) return strayItem(source, start)
  const rest = source.slice(start, line.end)
  const colon = /^(.*?):(?= |\t|$)/.exec(rest)
  if (colon !== null && !/\s#/.test(colon[0])) {
    const text = `a colon and a space in an unquoted value begin another key: put ${inQuotes(rest.trim())} in quotes, or ${colon[1]} on a line of its own`
    return { text, mark: { start, end: line.end } }
  }
  const next = lineAfter(source, line)
  if (next === null) return misplacedLine(source, start)
  const tab = next.text.slice(0, next.first - next.start + 1).indexOf('\t')
  if (tab !== -1) return tabAt(next.start + tab)
  if (/^\s*-[A-Za-z]/.test(line.text)) return lineWithoutKey(source, start)
  const key = /^(?:- +)*([^:]+):/.exec(line.text.trim())?.[1] ?? 'the line above'
  const text = `indented deeper than ${key} on the line above, which has a value already: align it`
  return { text, mark: { start: next.first, end: next.end } }
}

/** An item that is not in the column of the items above it, or one among keys. */
function strayItem(source: string, start: number): Explained {
  const own = lineAt(source, start)
  let line = own
  while (line.start > 0) {
    line = lineAt(source, line.start - 1)
    if (/^\s*(#|$)/.test(line.text)) continue
    if (line.first - line.start < own.first - own.start) break
    if (line.text.trimStart().startsWith('- ')) return misplacedLine(source, start)
  }
  return lineWithoutKey(source, start)
}

function blockInFlow({ source, start, end }: Stumble): Explained {
  const inside = source.slice(start, end)
  const [, before, key] = /^(.*?\S)\s+([\w-]+)\s*:/s.exec(inside) ?? []
  if (before !== undefined && !before.includes(':')) {
    const at = start + before.length
    return { text: `a comma is missing before ${key}`, mark: { start: at, end: at + 1 } }
  }
  const text = `a colon and a space in an unquoted value begin another key: put ${inQuotes(inside.trim())} in quotes`
  return { text, mark: { start, end } }
}

function missingCharacter(stumble: Stumble): Explained | null {
  const { source, said, start, end } = stumble
  if (/^Missing closing/.test(said)) {
    const at = quotedBefore(stumble.document, start)?.start ?? start
    return { text: 'the quote opened here is never closed', mark: { start: at, end: at + 1 } }
  }
  if (/^Missing , or :/.test(said)) {
    return /[{[]/.test(source[start] ?? '') && /\S/.test(source[start - 1] ?? ' ')
      ? mustBeWhole(source, start)
      : { text: 'a comma is missing before this', mark: { start, end } }
  }
  if (/^Comments must/.test(said)) {
    return { text: 'a comment begins with a space and #: put a space before it', mark: { start, end } }
  }
  if (/directives-end/.test(said))
    return { text: 'the % lines above end with a line ---, which is missing', mark: { start, end } }
  if (/indicator$/.test(said)) return misplacedLine(source, start)
  return openQuote(stumble) ?? lineWithoutKey(source, start)
}

function unexpected(stumble: Stumble): Explained | null {
  const { source, said, start, end } = stumble
  const mark = { start, end }
  const line = lineAt(source, start)
  if (/ at node end$/.test(said)) return afterValue(stumble)
  if (/^Unexpected flow-(map|seq)-end/.test(said)) {
    return oneTooMany(source, start)
  }
  if (/^Unexpected , in/.test(said)) return { text: 'a comma with nothing before it: remove it', mark }
  if (/block-seq-ind on same line/.test(said)) {
    if (start === line.first) return lineWithoutKey(source, start)
    return { text: 'a list item on the line of its key: put it on the next line, or write the list in brackets', mark }
  }
  if (/^Not a YAML token/.test(said)) return { text: 'a text after | or > begins on the next line', mark }
  return null
}

function oneTooMany(source: string, start: number): Explained {
  const text = `this ${source[start]} closes nothing: it is one too many, or the value needs quotes`
  return { text, mark: { start, end: start + 1 } }
}

/** Something follows a value that was complete. */
function afterValue(stumble: Stumble): Explained {
  const { source, start } = stumble
  const line = lineAt(source, start)
  if (start === line.first) return openQuote(stumble) ?? misplacedLine(source, start)
  const char = source[start] ?? ''
  const before = source[start - 1] ?? ' '
  if (/[{[]/.test(char) && /\S/.test(before)) return mustBeWhole(source, start)
  const last = source.slice(line.start, start).trimEnd().at(-1) ?? ''
  if (last === '"' || last === "'") {
    const open = openQuote(stumble)
    if (open !== null) return open
    const text = `the value ends at the ${last} before this: put all of it in quotes, and write ${last === '"' ? '\\"' : "''"} for a quote within`
    return { text, mark: { start, end: start + 1 } }
  }
  if (/[}\]]/.test(before)) {
    const opened = source.slice(line.start, start).search(/[{[](?=[^{[]*$)/)
    const at = opened === -1 ? start : line.start + opened
    const value = /^[^\s,]*/.exec(source.slice(at))?.[0] ?? ''
    if (at + value.length <= start) {
      const text = `something follows the ${before} that ends the value: a comma is missing, or the value needs quotes`
      return { text, mark: { start, end: start + 1 } }
    }
    const text = `a value that begins with ${source[at]} must be in quotes unless it is a ${source[at] === '{' ? 'mapping' : 'list'}: ${inQuotes(value)}`
    return { text, mark: { start: at, end: at + Math.max(1, value.length) } }
  }
  const alias = /(\*\S+) +$/.exec(source.slice(line.start, start))
  if (alias !== null) return mustBeQuoted(source, start - alias[0].length)
  return {
    text: 'this follows a value that is complete: is a comma, a quote or a line end missing before it?',
    mark: { start, end: start + 1 },
  }
}
