import { isAlias, isScalar, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Edit, Fields } from '../inject/types.js'
import { contentEnd, startOf } from './nodes.js'
import { aboveComments, before, isAtLineStart, lineBreakAt, lineStart, nextLine } from './source.js'
import type { Splice } from './splice.js'
import { type BlockStyle, blockLines, entryLines } from './write-block.js'

/** Above the first item, or below the last; `null` where the list shares its first line with something else. */
export function addItems(
  source: string,
  node: YAMLSeq,
  edit: Extract<Edit, { op: 'add-items' }>,
  style: BlockStyle,
): Splice | null {
  const dash = startOf(node)
  if (!isAtLineStart(source, dash)) return null
  const lines = blockLines(edit.items, before(source, dash).length, style)
  if (edit.at === 'last') return below(source, contentEnd(node), lines)
  return above(source, aboveComments(source, lineStart(source, dash)), lines)
}

/**
 * Above the first entry; in a map that shares its first line with a dash, below an entry of one line, so that no line
 * changes; and where there is none of those, in front of the first entry.
 */
export function addEntries(source: string, node: YAMLMap, entries: Fields, style: BlockStyle): Splice | null {
  const first = node.items[0]
  if (first === undefined) return null
  const start = startOf(first.key)
  const column = columnOf(source, node)
  const lines = Object.entries(entries).flatMap(([key, value]) => entryLines(key, value, column, style))
  if (isAtLineStart(source, start)) return above(source, aboveComments(source, lineStart(source, start)), lines)
  const simple = oneLinePair(source, node)
  if (simple !== null) return below(source, contentEnd(simple.value), lines)
  const lineBreak = lineBreakAt(source, nextLine(source, start))
  const text = `${lines.join(lineBreak).trimStart()}${lineBreak}${' '.repeat(column)}`
  return { start, end: start, text }
}

export function columnOf(source: string, node: YAMLMap): number {
  return before(source, startOf(node.items[0]?.key ?? node)).length
}

function above(source: string, at: number, lines: readonly string[]): Splice {
  const lineBreak = lineBreakAt(source, at)
  return { start: at, end: at, text: lines.map(line => line + lineBreak).join('') }
}

export function below(source: string, end: number, lines: readonly string[]): Splice {
  const at = source[end - 1] === '\n' ? end : nextLine(source, end)
  const lineBreak = lineBreakAt(source, at)
  // The last line of the text may lack its break.
  if (source[at - 1] !== '\n') return { start: at, end: at, text: lines.map(line => lineBreak + line).join('') }
  return { start: at, end: at, text: lines.map(line => line + lineBreak).join('') }
}

/** By preference what says what the container is. */
function oneLinePair(source: string, node: YAMLMap): Pair | null {
  const simple = node.items.filter(({ key, value }) => {
    if (!isScalar(key) || !(isAlias(value) || (isScalar(value) && !value.type?.startsWith('BLOCK')))) return false
    const end = contentEnd(value)
    const rest = source.slice(end, nextLine(source, end))
    return !source.slice(startOf(key), end).includes('\n') && /^(?:[ \t]*|[ \t]+#.*)\r?\n?$/.test(rest)
  })
  const named = ['image', 'name'].flatMap(name => simple.filter(({ key }) => isScalar(key) && key.value === name))
  return named[0] ?? simple[0] ?? null
}

/** Exactly what was added, as long as nobody has laid it out anew. */
export function removeItems(source: string, node: YAMLSeq, gone: readonly number[]): readonly Splice[] {
  return gone.map(index => {
    const item = node.items[index]
    const dash = index === 0 ? startOf(node) : source.lastIndexOf('-', startOf(item))
    return wholeLines(source, lineStart(source, dash), contentEnd(item))
  })
}

export function removeEntries(source: string, node: YAMLMap, keys: readonly string[]): readonly Splice[] {
  return node.items.flatMap((pair, index) => {
    if (!isScalar(pair.key) || !keys.includes(String(pair.key.value))) return []
    const start = startOf(pair.key)
    const next = node.items[index + 1]
    if (!isAtLineStart(source, start) && next !== undefined) return [{ start, end: startOf(next.key), text: '' }]
    return [wholeLines(source, lineStart(source, start), Math.max(contentEnd(pair.key), contentEnd(pair.value)))]
  })
}

function wholeLines(source: string, start: number, contentEnds: number): Splice {
  const end = source[contentEnds - 1] === '\n' ? contentEnds : nextLine(source, contentEnds)
  if (source[end - 1] === '\n' || start <= 1) return { start, end, text: '' }
  return { start: source[start - 2] === '\r' ? start - 2 : start - 1, end, text: '' }
}

/** Below a key that has nothing behind it; and back again. */
export function fillBelow(
  source: string,
  parent: YAMLMap,
  pair: Pair,
  value: unknown,
  style: BlockStyle,
): Splice | null {
  if (!isAtLineStart(source, startOf(pair.key)) && parent.items[0] !== pair) return null
  const column = columnOf(source, parent) + (Array.isArray(value) ? style.dash : style.step)
  return below(source, contentEnd(pair.key), blockLines(value, column, style))
}

export function emptyBelow(source: string, pair: Pair): Splice {
  return wholeLines(source, nextLine(source, contentEnd(pair.key)), contentEnd(pair.value))
}
