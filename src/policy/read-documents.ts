/** The documents of a set, each judged on its own. */
import { type JudgedDocument, judgeDocument } from './judge.js'
import { type KnownDocuments, keyOf, movedTo } from './known-documents.js'
import { fileMessage, type PolicyMessage } from './messages.js'
import { type Piece, piecesOf } from './pieces.js'
import { fileLabel, type PolicySource } from './source.js'
import { parseYaml } from './yaml-file.js'

export interface DocumentSet {
  readonly judged: readonly JudgedDocument[]
  /** About files and documents; what lies between documents is not looked at yet. */
  readonly messages: readonly PolicyMessage[]
  /** Of this set, for the next. */
  readonly known: KnownDocuments
  /** Documents that were not known. */
  readonly parsed: number
}

/** Only what is not in `known` is parsed and judged. */
export function readDocuments(source: PolicySource, known: KnownDocuments = new Map()): DocumentSet {
  const reader = new SetReader(known)
  const { judged, messages } = reader
  if (source.problem !== null) messages.push(source.problem)
  for (const { name, text } of source.files) {
    const file = fileLabel(source, name)
    // A file that was cut to nothing must not pass for one without upstreams.
    if (text.trim() === '') messages.push(fileMessage('FB002', file, 'is empty: give it a document or remove it'))
    for (const piece of piecesOf(text)) reader.read(file, piece)
  }
  messages.push(...judged.flatMap(one => one.messages))
  if (judged.length === 0 && messages.length === 0) {
    messages.push(fileMessage('FB002', source.dir, 'no policy documents, only comments'))
  }
  return { judged, messages, known: reader.next, parsed: reader.parsed }
}

class SetReader {
  readonly judged: JudgedDocument[] = []
  readonly messages: PolicyMessage[] = []
  readonly next = new Map<string, readonly JudgedDocument[]>()
  parsed = 0
  readonly #known: KnownDocuments

  constructor(known: KnownDocuments) {
    this.#known = known
  }

  read(file: string, { text, above }: Piece): void {
    const key = keyOf(text)
    const known = this.#known.get(key)?.map(one => movedTo(file, above, one))
    const documents = known ?? this.#parse(file, text, above)
    this.judged.push(...documents)
    if (documents.every(({ valid }) => valid)) this.next.set(key, documents)
  }

  #parse(file: string, text: string, above: number): JudgedDocument[] {
    const { documents, messages } = parseYaml(file, text, above)
    this.messages.push(...messages)
    this.parsed += documents.length
    return documents.map(judgeDocument)
  }
}
