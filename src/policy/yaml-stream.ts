/** Text to YAML documents, stopped as soon as there is more of it than any policy needs: what is not parsed costs nothing. */
import { Composer, type CST, type Document, Lexer, Parser } from 'yaml'
import type { MessageCode } from './codes.js'
import { MAX_DEPTH } from './yaml-reader.js'

/** Words, marks, line ends and indentations; each costs some µs. 200 upstreams of 5 routes with settings of their own have 170 000. */
const MAX_TOKENS = 400_000
/** In one file; each costs some 50 µs, however empty it is. */
const MAX_DOCUMENTS = 2000
/** In one list or mapping; the longest that has a use are the routes of an upstream, of which there may be 1000. */
const MAX_ENTRIES = 2000
/** The first is the one that is told; each costs as much as ten values. */
const MAX_FAULTS = 100

/** In one file; each costs some 20 µs to put into words, and nobody mends more at once. */
export const MOST_ERRORS = 1000

/** Why the rest of the file was not read. */
export interface Stop {
  readonly code: MessageCode
  readonly text: string
  readonly offset: number
}

/** What a file may still have; goes down as it is read, and below 0 when reading stops. */
export interface Room {
  tokens: number
  documents: number
  errors: number
}

export function fileRoom(): Room {
  return { tokens: MAX_TOKENS, documents: MAX_DOCUMENTS, errors: MOST_ERRORS }
}

export interface YamlStream {
  readonly documents: readonly Document.Parsed[]
  readonly tokens: number
  readonly stop: Stop | null
}

export function readStream(text: string, room: Room): YamlStream {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: true,
    // Found while reading, with both places.
    uniqueKeys: false,
    prettyErrors: false,
  })
  const before = room.tokens
  let stop: Stop | null = null
  const tokens = boundedTokens(text, room, reason => {
    stop = reason
  })
  const documents = withoutStacks(() => [...composer.compose(tokens)]) as Document.Parsed[]
  return { documents, tokens: before - room.tokens, stop }
}

function* boundedTokens(text: string, room: Room, stopped: (stop: Stop) => void) {
  const parser = new Parser()
  let faults = 0
  for (const lexeme of new Lexer().lex(text)) {
    const offset = parser.offset
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') room.documents--
      if (token.type === 'error') faults++
      if (token.type !== 'error' || faults <= MAX_FAULTS) yield token
    }
    room.tokens--
    // The document and the scalar are levels of the parser too. What is deeper by less is told at its place.
    const isDeep = parser.stack.length > 2 * MAX_DEPTH
    const over = isDeep ? TOO_DEEP : isLong(parser.stack.at(-1)) ? TOO_LONG : excess(room)
    if (over !== null) return stopped({ ...over, offset })
  }
  for (const token of parser.end()) {
    if (token.type === 'document') room.documents--
    yield token
  }
}

const TOO_DEEP = { code: 'FB014', text: `nested more than ${MAX_DEPTH} deep: no more is read` } as const

const TOO_LONG = {
  code: 'FB018',
  text: `more than ${MAX_ENTRIES} entries in one list or mapping: no more are read`,
} as const

function isLong(open: CST.Token | undefined): boolean {
  return open !== undefined && 'items' in open && open.items.length > MAX_ENTRIES
}

/** Why no more of the file is read. */
export function excess({ tokens, documents }: Room): Omit<Stop, 'offset'> | null {
  if (documents < 0) {
    return { code: 'FB018', text: `more than ${MAX_DOCUMENTS} documents in one file: no more are read` }
  }
  if (tokens < 0) {
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
