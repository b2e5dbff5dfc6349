/** Text that takes the place of what stands from `start` to `end`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Those at the same place are written in the order in which they come. */
export function spliced(source: string, splices: readonly Splice[]): string {
  const inOrder = splices
    .map((splice, index) => ({ ...splice, index }))
    .sort((a, b) => a.start - b.start || a.index - b.index)
  let text = ''
  let at = 0
  for (const { start, end, text: inserted } of inOrder) {
    text += source.slice(at, Math.max(at, start)) + inserted
    at = Math.max(at, end)
  }
  return text + source.slice(at)
}
