import { LineCounter } from 'yaml'

/** Where the lines of a text begin that is a piece of a file. Plain data. */
export interface Lines {
  readonly starts: readonly number[]
  /** Lines of the file above the text. */
  readonly above: number
}

export function linesOf(text: string, above: number): Lines {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return { starts, above }
}

/** In the file, both from 1; the column in UTF-16 units. */
export function positionAt({ starts, above }: Lines, offset: number): { readonly line: number; readonly col: number } {
  const { line, col } = Object.assign(new LineCounter(), { lineStarts: starts }).linePos(offset)
  return { line: line + above, col }
}
