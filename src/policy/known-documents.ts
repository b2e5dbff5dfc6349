/** Documents that were judged before and need not be parsed again while their text stays the same, wherever it stands. */
import { createHash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import type { JudgedDocument } from './judge.js'

/**
 * By `keyOf` their text. Without mistakes, since the text of a message can name lines; warnings name none but their own.
 */
export type KnownDocuments = ReadonlyMap<string, readonly JudgedDocument[]>

export function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** What was judged elsewhere, as if it had been judged here. */
export function movedTo(file: string, above: number, { document, ...judged }: JudgedDocument): JudgedDocument {
  const by = above - document.lines.above
  return {
    ...judged,
    document: { ...document, file, lines: { ...document.lines, above } },
    messages: judged.messages.map(message => ({ ...message, file, line: message.line + by })),
  }
}

/** For another thread, in memory that can be handed over without a copy; about seven times the text. */
export function packKnown(known: KnownDocuments): Uint8Array<ArrayBuffer> {
  return new Uint8Array(serialize(known))
}

/** Values are frozen and without a prototype again, which a clone is not. */
export function unpackKnown(packed: Uint8Array): KnownDocuments {
  const known = deserialize(packed) as KnownDocuments
  for (const { document } of [...known.values()].flat()) {
    for (const value of document.entries.keys()) {
      if (!Array.isArray(value)) Object.setPrototypeOf(value, null)
      Object.freeze(value)
    }
  }
  return known
}
