/** Text with a meaning → escape codes, or none. */
import type { Tone } from './verdict.js'

export type Style = Tone | 'head' | 'marked' | 'faint' | null

const CODES: Readonly<Record<Exclude<Style, null>, string>> = {
  good: '32',
  warn: '33',
  bad: '1;31',
  head: '1',
  marked: '7',
  faint: '2',
}
/** Without colours: what is marked must still be seen. */
const COLOURLESS: ReadonlySet<Style> = new Set(['head', 'marked'])

export type Paint = (text: string, style: Style) => string

export const paintWith =
  (colors: boolean): Paint =>
  (text, style) =>
    style === null || !(colors || COLOURLESS.has(style)) ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`
