import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { piecesOf } from '../../src/policy/pieces.js'

const cut = (text: string) => piecesOf(text).map(piece => piece.text)

test.for([
  ['a: 1\n---\nb: 2\n', ['a: 1\n', '---\nb: 2\n']],
  ['---\na: 1\n---\n---', ['---\na: 1\n', '---\n', '---']],
  ['--- {a: 1}\r\n---\tb\r\n---\r\n', ['--- {a: 1}\r\n', '---\tb\r\n', '---\r\n']],
  ['a: |\n  ---\n ---\n---x\n----\n', ['a: |\n  ---\n ---\n---x\n----\n']],
  ['# a\u2028---\n# b\r---\n', ['# a\u2028---\n# b\r---\n']],
  ['%YAML 1.2\n---\na: 1\n---\nb: 1\n', ['%YAML 1.2\n---\na: 1\n---\nb: 1\n']],
  ['a: 1\n...\n---\nb: 1\n', ['a: 1\n...\n---\nb: 1\n']],
  ['a: {{ b }}\n---\nb: 1\n', ['a: {{ b }}\n---\nb: 1\n']],
  ['', []],
] as const)('%j is cut at its document markers', ([text, pieces]) => {
  expect(cut(text)).toEqual(pieces)
})

const line = fc.constantFrom(
  ...[
    '---',
    '--- ',
    '--- # x',
    '--- |',
    '--- {a: 1}',
    '---x',
    ' ---',
    '# ---',
    'a: 1',
    '  b: 2',
    '- c',
    'd: |+',
    '  e',
    '',
  ],
  ...['f: >', 'g: "h', ' i"', "j: 'k", " l'", 'm: {', '}', 'n: [', ']', 'o: &p 1', '?', ': r', '...', '%YAML 1.2'],
)

test('pieces hold the documents that their file holds', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), (lines, newline) => {
      const text = lines.join(newline)
      const pieces = piecesOf(text)
      expect(pieces.map(piece => piece.text).join('')).toBe(text)
      for (const [n, { above }] of pieces.entries()) {
        expect(above).toBe(cut(text).slice(0, n).join('').split('\n').length - 1)
      }
      const whole = [...parseAllDocuments(text)]
      fc.pre(whole.every(({ errors }) => errors.length === 0))
      const apart = pieces.flatMap(piece => [...parseAllDocuments(piece.text)])
      const values = (documents: typeof whole) => documents.map(one => one.toJS()).filter(value => value !== null)
      expect(apart.flatMap(({ errors }) => errors)).toEqual([])
      expect(values(apart)).toEqual(values(whole))
    }),
    { numRuns: 1000 },
  )
})
