/** How many cells of a terminal a text takes, and how to make it take just so many. */

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Signs that stand on two cells: East Asian Wide and Fullwidth (Unicode Annex 11). */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u
const EMOJI = /^\p{Emoji_Presentation}|\ufe0f/u
const NO_CELL = /^[\p{M}\u200b-\u200f\u2060\ufeff]+$/u
/** What a terminal would obey instead of show, or that turns the direction of writing. */
const COMMANDS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const ASCII = /^[ -~]*$/
const ELLIPSIS = '…'

/** Text that others wrote (names, messages), safe to print: no control character is left in it. */
export function printable(text: string): string {
  return text.replace(/\s+/g, ' ').replace(COMMANDS, '·')
}

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += cellsOf(segment)
  return width
}

/** At most so many cells; what was cut off is an ellipsis. */
export function cut(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text
  if (cells < 1) return ''
  let kept = ''
  let left = cells - 1
  for (const { segment } of graphemes.segment(text)) {
    left -= cellsOf(segment)
    if (left < 0) break
    kept += segment
  }
  return kept + ELLIPSIS
}

/** Exactly so many cells. */
export function fit(text: string, cells: number, align: 'left' | 'right' = 'left'): string {
  const shown = cut(text, cells)
  const room = ' '.repeat(Math.max(0, cells - widthOf(shown)))
  return align === 'left' ? shown + room : room + shown
}

/** Lines of at most so many cells, broken between words where there are some. */
export function wrapped(text: string, cells: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= cells) line = longer
    else {
      if (line !== '') lines.push(line)
      line = cut(word, cells)
    }
  }
  return [...lines, line]
}

function cellsOf(segment: string): number {
  if (NO_CELL.test(segment)) return 0
  return WIDE.test(segment) || EMOJI.test(segment) ? 2 : 1
}
