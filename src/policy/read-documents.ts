/** The documents of a set, each judged on its own. */
import { type JudgedDocument, judgeDocument } from './judge.js'
import { type KnownDocuments, keyOf, movedTo } from './known-documents.js'
import { linesOf, positionAt } from './lines.js'
import { fileMessage, type PolicyMessage } from './messages.js'
import { type OtherFormat, otherFormat } from './other-formats.js'
import { type Piece, piecesOf } from './pieces.js'
import { fileLabel, type PolicySource } from './source.js'
import { parseYaml } from './yaml-file.js'
import { excess, fileRoom, MOST_ERRORS, type Room } from './yaml-stream.js'

export interface DocumentSet {
  readonly judged: readonly JudgedDocument[]
  /** About files and documents; what lies between documents is not looked at yet. */
  readonly messages: readonly PolicyMessage[]
  /** Of this set, for the next. */
  readonly known: KnownDocuments
  /** Documents that were not known. */
  readonly parsed: number
  /** 0 = was there before, 1 = one of its name was, 2 = new. Without an entry: 0. */
  readonly seniority: ReadonlyMap<JudgedDocument, number>
}

/** Only what is not in `known` is parsed and judged. */
export function readDocuments(source: PolicySource, known: KnownDocuments = new Map()): DocumentSet {
  const reader = new SetReader(known)
  const { judged, messages } = reader
  messages.push(...source.problems)
  for (const { name, text } of source.files) {
    const file = fileLabel(source, name)
    const before = judged.length + messages.length
    const other = otherFormat(text)
    const room = fileRoom()
    if (other !== null) messages.push(otherMessage(file, text, other))
    else for (const piece of piecesOf(text)) if (!reader.read(file, piece, room)) break
    // A file that is half written must not pass for one without upstreams.
    if (judged.length + messages.length === before) messages.push(fileMessage('FB002', file, withoutDocument(text)))
  }
  messages.push(...judged.flatMap(one => one.messages))
  return { judged, messages, known: reader.next, parsed: reader.parsed, seniority: reader.seniority }
}

function otherMessage(file: string, text: string, { code, text: said, offset, length }: OtherFormat): PolicyMessage {
  return { ...fileMessage(code, file, said), ...positionAt(linesOf(text, 0), offset), length }
}

function withoutDocument(text: string): string {
  return text.trim() === ''
    ? 'is empty: give it a document or remove it'
    : 'holds only comments: give it a document or remove the file'
}

const TOO_WRONG = `has ${MOST_ERRORS} errors and more: what follows is not looked at`

function fullName({ kind, name }: JudgedDocument): string {
  return `${kind} ${name}`
}

function errorsIn(messages: readonly PolicyMessage[]): number {
  return messages.filter(({ severity }) => severity === 'error').length
}

class SetReader {
  readonly judged: JudgedDocument[] = []
  readonly messages: PolicyMessage[] = []
  readonly next = new Map<string, readonly JudgedDocument[]>()
  parsed = 0
  readonly seniority = new Map<JudgedDocument, number>()
  readonly #known: KnownDocuments
  readonly #knownNames: ReadonlySet<string>

  constructor(known: KnownDocuments) {
    this.#known = known
    this.#knownNames = new Set([...known.values()].flat().map(fullName))
  }

  /** False when the file has more than may be read. */
  read(file: string, piece: Piece, room: Room): boolean {
    const key = keyOf(piece.text)
    const known = this.#known.get(key)?.map(one => movedTo(file, piece.above, one))
    if (known === undefined) return this.#parse(file, piece, key, room)
    this.#take(key, known)
    // What is known takes the room that it took when it was parsed: a reload refuses what a start would refuse.
    room.tokens -= known.reduce((sum, { document }) => sum + document.tokens, 0)
    room.documents -= known.length
    const over = excess(room)
    if (over !== null) this.messages.push({ ...fileMessage(over.code, file, over.text), line: piece.above + 1, col: 1 })
    return over === null
  }

  #parse(file: string, { text, above }: Piece, key: string, room: Room): boolean {
    const { documents, messages, stopped } = parseYaml(file, text, above, room)
    this.messages.push(...messages)
    this.parsed += documents.length
    room.errors -= errorsIn(messages)
    const judged: JudgedDocument[] = []
    for (const document of documents) {
      if (room.errors <= 0) break
      const one = judgeDocument(document)
      judged.push(one)
      this.seniority.set(one, this.#knownNames.has(fullName(one)) ? 1 : 2)
      room.errors -= errorsIn(one.messages)
    }
    if (stopped || room.errors <= 0) this.judged.push(...judged)
    else this.#take(key, judged)
    if (room.errors <= 0) this.messages.push(fileMessage('FB018', file, TOO_WRONG))
    return !stopped && room.errors > 0
  }

  #take(key: string, documents: readonly JudgedDocument[]): void {
    this.judged.push(...documents)
    // Text of comments alone is as quickly parsed as known.
    if (documents.length > 0 && documents.every(({ valid }) => valid)) this.next.set(key, documents)
  }
}
