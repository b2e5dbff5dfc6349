/**
 * From a YAML node tree to plain values with positions. Aliases and merge keys become shared values, never copies of a
 * tree, and what they would expand to is counted: a file of 300 bytes can stand for a billion values.
 */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Entry, Finding, Path, Span } from './document.js'
import { withoutMark } from './joined-documents.js'
import { nearest } from './nearest.js'
import { MERGE, readKey } from './yaml-keys.js'

/** Values in one document once aliases are expanded. The largest honest set (200 upstreams with 5 routes each) has about 50 000. */
const MAX_VALUES = 200_000
/** Beyond them a document is read no further. */
const MAX_MISTAKES = 1000
/** No document of ours is nested more than 8 deep. */
export const MAX_DEPTH = 32

/** The document cannot even be walked to its end; the finding says why. */
class Unreadable extends Error {}

interface Done {
  readonly value: unknown
  /** Values once expanded. */
  readonly size: number
}

type Anchored = Done | 'open'

export interface ReadResult {
  readonly root: unknown
  readonly entries: Map<object, Map<string, Entry>>
  readonly findings: readonly Finding[]
  readonly readable: boolean
}

export function readNode(node: Node | null, lineOf: (offset: number) => number): ReadResult {
  const reader = new Reader(lineOf)
  let root: unknown = null
  let readable = true
  try {
    root = reader.read(node, []).value
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    readable = false
  }
  const findings = withoutMark(reader.findings, lineOf)
  return { root, readable: readable && !reader.torn, entries: reader.entries, findings }
}

class Reader {
  readonly entries = new Map<object, Map<string, Entry>>()
  readonly findings: Finding[] = []
  /** A value is missing that the document refers to: what there is can be read, not judged. */
  torn = false
  readonly #anchors = new Map<string, Anchored>()
  readonly #lineOf: (offset: number) => number
  #aliases = 0

  constructor(lineOf: (offset: number) => number) {
    this.#lineOf = lineOf
  }

  read(node: Node | null, path: Path): Done {
    if (node === null) return { value: null, size: 1 }
    if (isAlias(node)) return this.#resolve(node.source, spanOf(node), path)
    if (path.length > MAX_DEPTH) {
      this.#stop({ code: 'FB014', path: [], text: `nested more than ${MAX_DEPTH} deep`, mark: spanOf(node) })
    }
    const { anchor, tag } = node as Scalar
    if (tag !== undefined && !PLAIN_TAGS.test(tag)) {
      const text = `${tag.replace(YAML_TAG, '!!')} is a tag, and tags are not supported: remove it`
      this.#stop({ code: 'FB017', path, text, mark: spanOf(node) })
    }
    if (anchor !== undefined && isScalar(node) && node.source === '' && node.type === 'PLAIN') {
      const text = `&${anchor} names nothing: give it a value, or put "&${anchor}" in quotes if it is one`
      this.#tear({ code: 'FB015', path, text, mark: spanOf(node) })
    }
    if (anchor !== undefined) this.#anchors.set(anchor, 'open')
    const done = this.#readContent(node, path)
    if (anchor !== undefined) this.#anchors.set(anchor, done)
    return done
  }

  #readContent(node: Node, path: Path): Done {
    if (isMap(node)) return this.#readMap(node as YAMLMap<Node, Node | null>, path)
    if (isSeq(node)) return this.#readSeq(node as YAMLSeq<Node>, path)
    const { value } = node as Scalar
    return { value: Object.is(value, -0) ? 0 : value, size: 1 }
  }

  #readSeq(node: YAMLSeq<Node>, path: Path): Done {
    const list: unknown[] = []
    const entries = new Map<string, Entry>()
    let size = 1
    for (const [index, item] of node.items.entries()) {
      const done = this.read(item, [...path, index])
      size = this.#grow(size, done.size, item, path)
      list.push(done.value)
      entries.set(String(index), entryOf(null, item))
    }
    return this.#close(list, entries, size)
  }

  #readMap(node: YAMLMap<Node, Node | null>, path: Path): Done {
    const map: Record<string, unknown> = Object.create(null)
    const entries = new Map<string, Entry>()
    const merges: { readonly pair: Pair<Node, Node | null>; readonly from: unknown }[] = []
    let size = 1
    for (const pair of node.items) {
      const key = this.#keyOf(pair.key, path)
      if (key === null) continue
      const done = this.read(pair.value, [...path, key === MERGE ? '<<' : key])
      size = this.#grow(size, done.size, pair.key, path)
      if (key === MERGE) {
        merges.push({ pair, from: done.value })
        continue
      }
      const first = entries.get(key)
      if (first !== undefined) {
        this.#duplicate(key, first, pair.key, path)
        continue
      }
      map[key] = done.value
      entries.set(key, entryOf(pair.key, pair.value))
    }
    // After the own keys, which win whatever the order; of several merges the earlier wins.
    for (const { pair, from } of merges) this.#merge(pair, from, map, entries, path)
    return this.#close(map, entries, size)
  }

  #merge(
    pair: Pair<Node, Node | null>,
    from: unknown,
    map: Record<string, unknown>,
    entries: Map<string, Entry>,
    path: Path,
  ): void {
    for (const source of Array.isArray(from) ? from : [from]) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        const text = '<< takes a mapping or a list of mappings, such as <<: *name'
        // What an unknown alias stands for has its message.
        if (!this.torn) this.#tear({ code: 'FB017', path: [...path, '<<'], text, mark: spanOf(pair.value ?? pair.key) })
        continue
      }
      for (const [key, entry] of this.entries.get(source) ?? []) {
        if (entries.has(key)) continue
        map[key] = (source as Record<string, unknown>)[key]
        entries.set(key, entry)
      }
    }
  }

  #grow(size: number, by: number, node: Node, path: Path): number {
    const total = size + by
    if (total <= MAX_VALUES) return total
    const text = `more than ${MAX_VALUES} values once the ${this.#aliases} aliases so far are expanded: no more are read`
    return this.#stop({ code: 'FB013', path, text, mark: spanOf(node) })
  }

  #close(value: object, entries: Map<string, Entry>, size: number): Done {
    this.entries.set(value, entries)
    return { value: Object.freeze(value), size }
  }

  /** `null` for a key that is refused; the rest of the mapping can still be judged. */
  #keyOf(node: Node, path: Path): string | typeof MERGE | null {
    const read = readKey(node)
    if ('key' in read) return read.key
    const finding: Finding = { code: 'FB016', path, text: read.refused, mark: spanOf(node) }
    if (!read.torn) this.#find(finding)
    else if (!this.torn) this.#tear(finding)
    return null
  }

  #duplicate(key: string, first: Entry, second: Node, path: Path): void {
    const lines = [first.key?.start ?? 0, spanOf(second).start].map(this.#lineOf)
    const where = lines[0] === lines[1] ? `both at line ${lines[0]}` : `at line ${lines[0]} and at line ${lines[1]}`
    const text = `the key ${key} stands here twice, ${where}: keep one`
    this.#find({ code: 'FB011', path: [...path, key], text, mark: spanOf(second) })
  }

  #resolve(name: string, mark: Span, path: Path): Done {
    this.#aliases++
    const found = this.#anchors.get(name)
    if (typeof found === 'object') return found
    const near = found === 'open' ? null : nearest(name, this.#anchors.keys())
    const quotes = /^[\w-]*$/.test(name) ? '' : '; a text that begins with * must be in quotes'
    const text =
      found === 'open'
        ? `*${name} stands within &${name} itself`
        : `*${name} has no &${name} before it in this document${quotes}`
    this.#tear({ code: 'FB015', path, text, mark, suggestion: near === null ? null : `*${near}` })
    return { value: null, size: 1 }
  }

  #tear(finding: Finding): void {
    this.torn = true
    this.#find(finding)
  }

  #find(finding: Finding): void {
    this.findings.push(finding)
    if (this.findings.length >= MAX_MISTAKES) throw new Unreadable()
  }

  #stop(finding: Finding): never {
    this.findings.push(finding)
    throw new Unreadable()
  }
}

const YAML_TAG = 'tag:yaml.org,2002:'
/** What plain YAML says without a tag too. */
const PLAIN_TAGS = /^!?$|^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq|merge)$/

function entryOf(key: Node | null, value: Node | null): Entry {
  const keySpan = key === null ? null : spanOf(key)
  const scalar = isScalar(value) ? value : null
  return {
    key: keySpan,
    value:
      value === null || (scalar?.source === '' && keySpan !== null && scalar.type === 'PLAIN')
        ? (keySpan ?? NOWHERE)
        : spanOf(value),
    source: scalar?.source ?? null,
    quoted: scalar !== null && scalar.type !== 'PLAIN',
  }
}

const NOWHERE: Span = { start: 0, end: 0 }

function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 0]
  return { start, end }
}
