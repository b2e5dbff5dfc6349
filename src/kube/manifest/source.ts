/** Places in a text, all as offsets into it. */

/** A byte order mark belongs to no line. */
export function lineStart(source: string, offset: number): number {
  const start = offset === 0 ? 0 : source.lastIndexOf('\n', offset - 1) + 1
  return start === 0 && source.startsWith('\ufeff') ? 1 : start
}

/** Behind the line break, or the end of the text. */
export function nextLine(source: string, offset: number): number {
  const end = source.indexOf('\n', offset)
  return end === -1 ? source.length : end + 1
}

/** From 1; a text of many objects is not gone through for each of them. */
export function lineCounter(source: string): (offset: number) => number {
  const ends = [...source.matchAll(/\n/g)].map(({ index }) => index)
  return offset => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

/** What stands between the start of the line and `offset`. */
export function before(source: string, offset: number): string {
  return source.slice(lineStart(source, offset), offset)
}

export function isAtLineStart(source: string, offset: number): boolean {
  return /^[ \t]*$/.test(before(source, offset))
}

/** The line break that the lines around this place have. */
export function lineBreakAt(source: string, offset: number): string {
  const end = source.lastIndexOf('\n', offset - 1)
  const at = end === -1 ? source.indexOf('\n') : end
  return at > 0 && source[at - 1] === '\r' ? '\r\n' : '\n'
}

/** Upwards over comments and blank lines: those that stand above something belong to it. */
export function aboveComments(source: string, start: number): number {
  let at = start
  while (at > 0) {
    const previous = lineStart(source, at - 1)
    if (previous >= at || !/^[ \t]*(#.*)?\r?$/.test(source.slice(previous, at - 1))) break
    at = previous
  }
  return at
}

/** Behind white space and comments. */
export function skipBlank(source: string, offset: number): number {
  return offset + (/^(?:\s|(?<=\s)#[^\n]*)*/.exec(source.slice(offset, offset + LOOK_AHEAD))?.[0].length ?? 0)
}

const LOOK_AHEAD = 100_000
