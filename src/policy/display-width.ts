/** How many columns of a terminal a text takes: East Asian letters and emoji take two, marks on a letter none. */

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Combining marks and format characters; the soft hyphen is shown. */
const INVISIBLE = /(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u
/** UAX #11 by script rather than by table: what a policy is likely to hold. The half-width forms are of the same scripts. */
const WIDE =
  /(?![\uff61-\uffdc])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u

export function displayWidth(text: string): number {
  return graphemesOf(text).reduce((sum, one) => sum + graphemeWidth(one), 0)
}

/** As many of the first graphemes as fit into `columns`. */
export function headWithin(text: string, columns: number): string {
  let room = columns
  const list = graphemesOf(text)
  const end = list.findIndex(one => {
    room -= graphemeWidth(one)
    return room < 0
  })
  return end === -1 ? text : list.slice(0, end).join('')
}

/** As many of the last graphemes as fit into `columns`. */
export function tailWithin(text: string, columns: number): string {
  let room = columns
  const list = graphemesOf(text)
  const last = list.findLastIndex(one => {
    room -= graphemeWidth(one)
    return room < 0
  })
  return list.slice(last + 1).join('')
}

function graphemesOf(text: string): string[] {
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)
}

function graphemeWidth(grapheme: string): number {
  if (/^[ -~]$/.test(grapheme)) return 1
  // One picture, however many code points it is made of.
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2
  return Array.from(grapheme, codePointWidth).reduce((sum, width) => sum + width, 0)
}

function codePointWidth(character: string): number {
  if (INVISIBLE.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
