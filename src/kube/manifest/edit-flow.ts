import { isMap, type Pair } from 'yaml'
import type { Edit } from '../inject/types.js'
import { type Collection, contentEnd, startOf } from './nodes.js'
import { before, lineBreakAt, skipBlank } from './source.js'
import type { Splice } from './splice.js'
import { type FlowStyle, flowEntry, flowText } from './write-flow.js'

/** Behind the opening bracket, or behind the last item. */
export function addToFlow(
  source: string,
  node: Collection,
  edit: Extract<Edit, { op: 'add-items' | 'add-entries' }>,
): Splice {
  const style = styleOf(source, node)
  const texts =
    edit.op === 'add-items'
      ? edit.items.map(item => flowText(item, style))
      : Object.entries(edit.entries).map(([key, value]) => flowEntry(key, value, style))
  const lead = style.lines === null ? '' : style.lines.lineBreak + style.lines.indent
  const gap = style.lines === null && !style.dense ? ' ' : ''
  const open = startOf(node) + 1
  if (node.items.length === 0) return insertion(open, texts.join(`,${gap}`))
  if (edit.op === 'add-items' && edit.at === 'last') {
    const end = ends(node).at(-1) ?? open
    return insertion(end, texts.map(text => `,${gap}${lead}${text}`).join(''))
  }
  return insertion(open, texts.map(text => `${lead}${text},${gap}`).join(''))
}

function insertion(at: number, text: string): Splice {
  return { start: at, end: at, text }
}

/** Exactly what `addToFlow` wrote, as long as nobody has laid it out anew. */
export function removeFromFlow(source: string, node: Collection, gone: readonly number[]): readonly Splice[] {
  const starts = itemStarts(node)
  const itemEnds = ends(node)
  const count = node.items.length
  if (gone.length === count) return [{ start: starts[0] ?? 0, end: itemEnds.at(-1) ?? 0, text: '' }]
  return gone.map(index => {
    const end = itemEnds[index] ?? 0
    const leading = gone.filter(other => other < index).length === index
    if (!leading) return { start: itemEnds[index - 1] ?? 0, end, text: '' }
    const comma = skipBlank(source, end) + 1
    const from = index === 0 ? startOf(node) + 1 : skipComma(source, itemEnds[index - 1] ?? 0)
    const own = starts[index] ?? 0
    const start = source.slice(from, own).includes('\n') ? from : own
    const blank = start === own && source[comma] === ' ' ? 1 : 0
    return { start, end: comma + blank, text: '' }
  })
}

function skipComma(source: string, end: number): number {
  const comma = skipBlank(source, end)
  return source[comma] === ',' ? comma + 1 : end
}

function itemStarts(node: Collection): readonly number[] {
  return node.items.map(item => startOf(isMap(node) ? (item as Pair).key : item))
}

function ends(node: Collection): readonly number[] {
  if (!isMap(node)) return node.items.map(contentEnd)
  return node.items.map(({ key, value }) => Math.max(contentEnd(key), contentEnd(value)))
}

function styleOf(source: string, node: Collection): FlowStyle {
  const open = startOf(node)
  const first = itemStarts(node)[0]
  const dense = /^[{[]"/.test(source.slice(open, open + 2)) && !/[:,] /.test(source.slice(open, open + DENSE_LOOK))
  if (first === undefined) return { dense: false, lines: null }
  const gap = source.slice(open + 1, first)
  if (!gap.includes('\n')) return { dense, lines: null }
  const indent = /^[ \t]*/.exec(before(source, first))?.[0] ?? ''
  const outer = /^[ \t]*/.exec(before(source, open))?.[0] ?? ''
  const step = indent.startsWith(outer) && indent !== outer ? indent.slice(outer.length) : '  '
  return { dense: false, lines: { indent, step, lineBreak: lineBreakAt(source, first) } }
}

const DENSE_LOOK = 400
