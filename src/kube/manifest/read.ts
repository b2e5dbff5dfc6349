import { type Document, parseAllDocuments } from 'yaml'

/** A stretch of the text that is parsed by itself: all of it, or one value of a stream of JSON. */
export interface Segment {
  readonly offset: number
  readonly text: string
  readonly documents: readonly Document[]
}

export function readSegments(text: string): readonly Segment[] {
  return textSegments(text).map(segment => ({ ...segment, documents: documentsIn(segment.text) }))
}

/** YAML 1.1, as Kubernetes reads it: `yes` is true there, and `0644` is octal. */
function documentsIn(text: string): readonly Document[] {
  const parsed = parseAllDocuments(text, { version: '1.1', merge: true, prettyErrors: false, logLevel: 'silent' })
  return Array.isArray(parsed) ? parsed : []
}

/** Several JSON values one after the other are no YAML, but `kubectl` takes them. */
function textSegments(text: string): readonly { readonly offset: number; readonly text: string }[] {
  const ends = /^\ufeff?\s*\{/.test(text) ? jsonEnds(text) : []
  if (ends.length < 2) return [{ offset: 0, text }]
  return ends.map((end, index) => {
    const offset = ends[index - 1] ?? 0
    return { offset, text: index === ends.length - 1 ? text.slice(offset) : text.slice(offset, end) }
  })
}

/** Where each value ends; empty unless all of it is JSON. */
function jsonEnds(text: string): readonly number[] {
  const ends: number[] = []
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth++
    if (token !== '}' || --depth > 0) continue
    const end = index + 1
    if (!isJson(text.slice(ends.at(-1) ?? 0, end))) return []
    ends.push(end)
  }
  return text.slice(ends.at(-1) ?? 0).trim() === '' ? ends : []
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace('\ufeff', ''))
    return true
  } catch {
    return false
  }
}

/** Values as Kubernetes sees them; throws where aliases lead nowhere or to far too much. */
export function valueOf(document: Document): unknown {
  return document.toJS({ maxAliasCount: MAX_ALIASES })
}

const MAX_ALIASES = 10_000
