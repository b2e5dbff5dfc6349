import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Path } from '../inject/types.js'

export type Collection = YAMLMap | YAMLSeq

/** Where something stands in a document, and how it was come by. */
export interface Found {
  readonly node: Node
  /** The pair of which it is the value. */
  readonly pair: Pair | null
  readonly parent: Collection | null
  /** The first step that leads through an alias or a merge key. */
  readonly shared: { readonly by: 'alias' | 'merge'; readonly node: Node; readonly depth: number } | null
}

/** `null` where there is no such thing. */
export function find(document: Document, path: Path): Found | null {
  if (document.contents === null) return null
  let found: Found = { node: document.contents, pair: null, parent: null, shared: null }
  for (const [index, step] of path.entries()) {
    const next = child(document, resolved(document, found, index), step, index + 1)
    if (next === null) return null
    found = next
  }
  return resolved(document, found, path.length)
}

/** As far along the path as there is something. */
export function findNearest(document: Document, path: Path): Node | null {
  for (let depth = path.length; depth >= 0; depth--) {
    const found = find(document, path.slice(0, depth))
    if (found !== null) return isNode(found.pair?.key) && depth > 0 ? found.pair.key : found.node
  }
  return null
}

function resolved(document: Document, found: Found, depth: number): Found {
  if (!isAlias(found.node)) return found
  const target = found.node.resolve(document)
  if (target === undefined) return found
  return { ...found, node: target, shared: found.shared ?? { by: 'alias', node: found.node, depth } }
}

function child(document: Document, found: Found, step: string | number, depth: number): Found | null {
  const { node, shared } = found
  if (isSeq(node)) {
    const item = node.items[Number(step)]
    return isNode(item) ? { node: item, pair: null, parent: node, shared } : null
  }
  if (!isMap(node)) return null
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step)
  if (pair !== undefined) return isNode(pair.value) ? { node: pair.value, pair, parent: node, shared } : null
  for (const source of mergedInto(document, node)) {
    const inner = child(document, { ...found, node: source }, step, depth)
    if (inner !== null) return { ...inner, shared: shared ?? { by: 'merge', node: source, depth } }
  }
  return null
}

/** The maps that `<<` takes in, the one that wins first. */
function mergedInto(document: Document, map: YAMLMap): readonly Node[] {
  return map.items
    .filter(({ key }) => isScalar(key) && (key.value === '<<' || typeof key.value === 'symbol'))
    .flatMap(({ value }) => (isSeq(value) ? value.items : [value]))
    .map(value => (isAlias(value) ? value.resolve(document) : value))
    .filter(isNode)
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value)
}

export function startOf(node: unknown): number {
  return (node as Node).range?.[0] ?? 0
}

/** Behind the last character of the content: neither comments nor a line break, but that of a block scalar. */
export function contentEnd(node: unknown): number {
  if (isMap(node) && node.flow !== true) {
    const last = node.items.at(-1)
    if (last === undefined) return node.range?.[1] ?? 0
    return Math.max(contentEnd(last.key), isNode(last.value) ? contentEnd(last.value) : 0)
  }
  if (isSeq(node) && node.flow !== true) {
    const last = node.items.at(-1)
    return last === undefined ? (node.range?.[1] ?? 0) : contentEnd(last)
  }
  return (node as Node | null)?.range?.[1] ?? 0
}

export function isFlow(node: unknown): boolean {
  return (isMap(node) || isSeq(node)) && node.flow === true
}
