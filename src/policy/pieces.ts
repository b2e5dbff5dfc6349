/** Cuts a file into texts that can be parsed apart, so that an edit of one document leaves the others known. */
import type { Lines } from './lines.js'

export interface Piece {
  readonly text: string
  /** Lines of the file above it. */
  readonly above: Lines['above']
}

/** A directive holds for the document after it, a template mark spoils the whole file. */
const INSEPARABLE = /\{\{|(?:^|\n)(?:%|\.\.\.)/
/** At the start of a line this ends whatever came before it, a block scalar too (YAML 1.2.2 §9.1.2). */
const MARKER = /(?<=^|\n)---(?=[ \t\r\n]|$)/g

/** In their order, without a gap: a document of its own each, with the comments in front of its marker. */
export function piecesOf(text: string): Piece[] {
  if (INSEPARABLE.test(text)) return [{ text, above: 0 }]
  const cuts = [...text.matchAll(MARKER)].map(({ index }) => index)
  const pieces: Piece[] = []
  let above = 0
  for (const [n, start] of [0, ...cuts].entries()) {
    const piece = text.slice(start, cuts[n])
    if (piece !== '') pieces.push({ text: piece, above })
    above += newlines(piece)
  }
  return pieces
}

function newlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
