/** Text to YAML documents, stopped as soon as there is more of it than any policy needs: what is not parsed costs nothing. */
import { Composer, type Document, Lexer, type LineCounter, Parser } from 'yaml'
import type { MessageCode } from './codes.js'
import { MAX_DEPTH } from './yaml-reader.js'

/** Words, marks, line ends and indentations; each costs some µs. The largest honest file (200 upstreams of 5 routes) has about 150 000. */
const MAX_TOKENS = 250_000
/** In one file; each costs some 50 µs, however empty it is. */
const MAX_DOCUMENTS = 2000
/** The first is the one that is told; each costs as much as ten values. */
const MAX_FAULTS = 100

/** Why the rest of the file was not read. */
export interface Stop {
  readonly code: MessageCode
  readonly text: string
  readonly offset: number
}

export interface YamlStream {
  readonly documents: readonly Document.Parsed[]
  readonly stop: Stop | null
}

export function readStream(text: string, lineCounter: LineCounter): YamlStream {
  const composer = new Composer({
    lineCounter,
    version: '1.2',
    schema: 'core',
    merge: true,
    // Found while reading, with both places.
    uniqueKeys: false,
    prettyErrors: false,
  })
  let stop: Stop | null = null
  const tokens = boundedTokens(text, lineCounter, reason => {
    stop = reason
  })
  const documents = withoutStacks(() => [...composer.compose(tokens)]) as Document.Parsed[]
  return { documents, stop }
}

function* boundedTokens(text: string, lines: LineCounter, stopped: (stop: Stop) => void) {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let count = 0
  let documents = 0
  let faults = 0
  for (const lexeme of new Lexer().lex(text)) {
    const offset = parser.offset
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') documents++
      if (token.type === 'error') faults++
      if (token.type !== 'error' || faults <= MAX_FAULTS) yield token
    }
    const over = excess(++count, documents, parser.stack.length)
    if (over !== null) return stopped({ ...over, offset })
  }
  yield* parser.end()
}

function excess(tokens: number, documents: number, depth: number): Omit<Stop, 'offset'> | null {
  // The document and the scalar are levels of the parser too. What is deeper by less is told at its place.
  if (depth > 2 * MAX_DEPTH) return { code: 'FB014', text: `nested more than ${MAX_DEPTH} deep: no more is read` }
  if (documents > MAX_DOCUMENTS) {
    return { code: 'FB018', text: `more than ${MAX_DOCUMENTS} documents in one file: no more are read` }
  }
  if (tokens > MAX_TOKENS) {
    return { code: 'FB018', text: `more than ${MAX_TOKENS} words, marks and line ends in one file: no more are read` }
  }
  return null
}

/** The parser makes an Error of each stumble; collecting their stacks takes most of its time on broken files. */
function withoutStacks<T>(work: () => T): T {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = before
  }
}
