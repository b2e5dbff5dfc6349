/** Brackets and quotes of a broken document that want their other half. */
import { type Document, isCollection, visit } from 'yaml'
import type { Span } from './document.js'

/** Where the last flow collection begins that begins before `offset` and has no end. */
export function unclosed(source: string, document: Document.Parsed, offset: number): number | null {
  let found: number | null = null
  visit(document, {
    Node(_, node) {
      const [start = 0, end = 0] = node.range ?? []
      const open = isCollection(node) && node.flow === true && !/[}\]]/.test(source[end - 1] ?? '')
      if (open && start < offset && source[start] !== undefined) found = Math.max(found ?? 0, start)
    },
  })
  return found
}

/** The last quoted text that begins at or before `offset`. */
export function quotedBefore(document: Document.Parsed, offset: number): Span | null {
  let found: Span | null = null
  visit(document, {
    Scalar(_, node) {
      const [start, end] = node.range ?? [0, 0]
      const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE'
      if (quoted && start <= offset && (found === null || start > found.start)) found = { start, end }
    },
  })
  return found
}

/** Whether the bracket at `at` finds its other half somewhere below, quotes and comments left aside. */
export function closesLater(source: string, at: number): boolean {
  const open: string[] = []
  for (const [token] of source.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|'[^']*'|(?<=\s)#.*|[{}[\]]|^---/gm)) {
    if (token === '---') return false
    if (token === '{' || token === '[') open.push(token === '{' ? '}' : ']')
    if ((token === '}' || token === ']') && open.pop() !== token) return false
    if (open.length === 0) return true
  }
  return false
}
