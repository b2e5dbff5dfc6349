import { type Document, isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml'
import type { Edit, Path } from '../inject/types.js'
import { addEntries, addItems, columnOf, emptyBelow, fillBelow, removeEntries, removeItems } from './edit-block.js'
import { addToFlow, removeFromFlow } from './edit-flow.js'
import { contentEnd, type Found, find, isFlow, startOf } from './nodes.js'
import { before, skipBlank } from './source.js'
import type { Splice } from './splice.js'
import type { BlockStyle } from './write-block.js'
import { flowText } from './write-flow.js'

/** `base` leads to the pod or template within the document. `null`: as the text stands, one cannot be written into it. */
export function splicesFor(
  source: string,
  document: Document,
  base: Path,
  edits: readonly Edit[],
): readonly Splice[] | null {
  const style = blockStyle(source, document, base)
  const splices: Splice[] = []
  for (const edit of edits) {
    const found = find(document, [...base, ...edit.path])
    const made = found === null ? null : splicesAt(source, found, edit, style)
    if (made === null) return null
    splices.push(...made)
  }
  return splices
}

function splicesAt(source: string, found: Found, edit: Edit, style: BlockStyle): readonly Splice[] | null {
  const { node } = found
  switch (edit.op) {
    case 'add-items':
      if (!isSeq(node)) return null
      return one(node.flow ? addToFlow(source, node, edit) : addItems(source, node, edit, style))
    case 'add-entries':
      if (!isMap(node)) return null
      return one(node.flow ? addToFlow(source, node, edit) : addEntries(source, node, edit.entries, style))
    case 'remove-items':
      if (!isSeq(node)) return null
      return node.flow ? removeFromFlow(source, node, edit.indexes) : removeItems(source, node, edit.indexes)
    case 'remove-entries':
      if (!isMap(node)) return null
      return node.flow
        ? removeFromFlow(source, node, indexesOf(node, edit.keys))
        : removeEntries(source, node, edit.keys)
    case 'fill':
      return one(filled(source, found, edit.value, style))
    case 'empty':
      return one(emptied(source, found, edit.text))
  }
}

function one(splice: Splice | null): readonly Splice[] | null {
  return splice === null ? null : [splice]
}

function indexesOf(map: YAMLMap, keys: readonly string[]): readonly number[] {
  return map.items.flatMap(({ key }, index) => (isScalar(key) && keys.includes(String(key.value)) ? [index] : []))
}

function filled(source: string, { node, pair, parent }: Found, value: unknown, style: BlockStyle): Splice | null {
  const [start, end] = node.range ?? [0, 0]
  const text = flowText(value, { dense: false, lines: null })
  if (start !== end) return { start, end, text }
  if (pair === null || !isMap(parent)) return null
  if (parent.flow !== true) return fillBelow(source, parent, pair, value, style)
  const colon = skipBlank(source, contentEnd(pair.key)) + 1
  return { start: colon, end: colon, text: ` ${text}` }
}

function emptied(source: string, { node, pair }: Found, text: string): Splice | null {
  if (text === '' && !isFlow(node)) return pair === null ? null : emptyBelow(source, pair)
  const [start, end] = node.range ?? [0, 0]
  return { start: text === '' ? start - 1 : start, end, text }
}

/** As the pod itself is written, as far as it can be told. */
function blockStyle(source: string, document: Document, base: Path): BlockStyle {
  const spec = find(document, [...base, 'spec'])
  if (!isMap(spec?.node) || isFlow(spec.node) || spec.pair === null) return { step: 2, dash: 2 }
  const column = columnOf(source, spec.node)
  const step = column - columnAt(source, spec.pair)
  const lists = spec.node.items.filter(({ value }) => isSeq(value) && value.flow !== true)
  const list = lists.find(({ key }) => isScalar(key) && key.value === 'containers') ?? lists[0]
  const dash = list === undefined ? 2 : before(source, startOf(list.value)).length - column
  return { step: step > 0 ? step : 2, dash: Math.max(0, dash) }
}

/** Of the key, which may stand behind a dash. */
function columnAt(source: string, pair: Pair): number {
  return before(source, startOf(pair.key)).length
}
