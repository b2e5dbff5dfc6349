import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth, headWithin, tailWithin } from '../../src/policy/display-width.js'
import { excerpt, printable, SourceLines } from '../../src/policy/excerpt.js'

/** How many columns Node's own line editor takes the text for. */
function columnsInNode(text: string): number {
  const input = new PassThrough()
  const editor = createInterface({ input, output: new PassThrough(), prompt: text })
  const { cols } = editor.getCursorPos()
  editor.close()
  return cols
}

const WORDS = [
  'a',
  'é',
  'e\u0301',
  '日本語',
  'ﾊﾝｶｸ',
  '한국어',
  'ｆｕｌｌ',
  '、',
  '😀',
  'कि',
  'Ω',
  'ä\u0308',
  '\u200b',
  '中a文',
  'שלום',
  'กำ',
]

describe('the width of a text in a terminal', () => {
  it.each(WORDS)('is that which Node measures: %s', word => {
    expect(displayWidth(word)).toBe(columnsInNode(word))
  })

  it('takes a sequence that is one emoji, or one syllable, for one', () => {
    expect(['👩‍💻', '👍🏽', '🇩🇪', '1️⃣', '\u1112\u1161\u11ab'].map(displayWidth)).toEqual([2, 2, 2, 2, 2])
  })

  it('is kept to by what is cut at either end, and no letter is torn', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WORDS)), fc.nat(30), (words, columns) => {
        const text = words.join('')
        const [head, tail] = [headWithin(text, columns), tailWithin(text, columns)]
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
        for (const part of [head, tail]) {
          expect(displayWidth(part)).toBeLessThanOrEqual(columns)
          if (part !== text) expect(displayWidth(part)).toBeGreaterThanOrEqual(columns - 1)
          expect(part).not.toMatch(/\p{Cs}/u)
        }
      }),
    )
  })
})

/** The text that stands above the marks. */
function marked(line: string, col: number, length: number, columns?: number): string {
  const [source = '', marks = ''] = excerpt({ line: 1, col, length }, line, { columns, paint: text => text }).split(
    '\n',
  )
  const before = headWithin(source, marks.indexOf('^'))
  expect(displayWidth(before)).toBe(marks.indexOf('^'))
  return headWithin(source.slice(before.length), marks.length - marks.indexOf('^'))
}

describe('the mark under a source line', () => {
  it.each([
    ['after wide letters', 'hosts: [日本, bad]', 'bad'],
    ['under wide letters', 'hosts: [日本, ok]', '日本'],
    ['after emoji', '"👩‍💻😀": bad', 'bad'],
    ['after combining marks', 'e\u0301e\u0301e\u0301: bad', 'bad'],
    ['after tabs', 'a:\t\tbad', 'bad'],
    ['after control characters', 'a\u0007\u001b: bad', 'bad'],
    ['with a carriage return in the line', 'a\r: bad', 'bad'],
  ])('stands right %s', (_, line, fault) => {
    expect(marked(line, line.indexOf(fault) + 1, fault.length)).toBe(fault)
  })

  it('stands where it stood beside a password, of which nothing shows', () => {
    const source = 'park: { store: "rediss://user:p@ss@host x", stor: 1 }'
    const mark = { line: 1, col: source.indexOf('stor:') + 1, length: 4 }
    const [text = '', marks = ''] = excerpt(mark, source, { paint: marked => marked }).split('\n')
    expect(text).toContain('rediss://*********@host x')
    expect(marks.indexOf('^')).toBe(text.indexOf('stor:'))
  })

  it('stands right wherever the fault is, in whatever text, and the line fits into the terminal', () => {
    const word = fc.constantFrom(...WORDS, ' ', 'x: ')
    fc.assert(
      fc.property(fc.array(word), fc.array(word), fc.integer({ min: 40, max: 150 }), (before, after, columns) => {
        const [lead, fault] = [before.join(''), 'FAULT']
        const line = `${lead} ${fault} ${after.join('')}`
        const shown = excerpt({ line: 1, col: lead.length + 2, length: fault.length }, line, {
          columns,
          paint: text => text,
        })
        expect(marked(line, lead.length + 2, fault.length, columns)).toBe(fault)
        for (const row of shown.split('\n')) expect(displayWidth(row)).toBeLessThanOrEqual(columns)
      }),
    )
  })

  it('shows the part around the fault of a very long line, at once', () => {
    expect(marked(`${'日'.repeat(400_000)} FAULT ${'x'.repeat(100_000)}`, 400_002, 5)).toBe('FAULT')
  })

  it('is one character long where a length is not known', () => {
    expect(excerpt({ line: 12, col: 3, length: 0 }, 'a: b', { paint: text => `<${text}>` })).toBe(
      '   12 | a: b\n      |   <^>',
    )
  })
})

describe('the lines of a text', () => {
  it('are counted as the parser counts them', () => {
    const lines = new SourceLines(new Map([['a', 'one\r\ntwo\rstill two\nthree']]))
    expect([1, 2, 3, 4].map(line => lines.at('a', line))).toEqual(['one', 'two\rstill two', 'three', undefined])
    expect(lines.at('b', 2)).toBeUndefined()
  })
})

it('what is shown of a policy keeps its length', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => printable(text).length === text.length))
})
