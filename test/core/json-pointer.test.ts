import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePointer, pointed } from '../../src/core/json-pointer.js'

const escaped = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
const at = (document: unknown, pointer: string) => pointed(document, parsePointer(pointer) ?? [])

describe('a JSON pointer', () => {
  it('finds what the examples of RFC 6901 §5 find', () => {
    const document = {
      foo: ['bar', 'baz'],
      '': 0,
      'a/b': 1,
      'c%d': 2,
      'e^f': 3,
      'g|h': 4,
      'i\\j': 5,
      'k"l': 6,
      ' ': 7,
      'm~n': 8,
    }
    const found = ['', '/foo', '/foo/0', '/', '/a~1b', '/c%d', '/e^f', '/g|h', '/i\\j', '/k"l', '/ ', '/m~0n']
    expect(found.map(pointer => at(document, pointer))).toEqual([
      document,
      ['bar', 'baz'],
      'bar',
      0,
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
    ])
  })

  it('leads to every value of every document', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), document => {
        const seen: [string, unknown][] = []
        const visit = (value: unknown, pointer: string) => {
          seen.push([pointer, value])
          if (typeof value !== 'object' || value === null) return
          for (const [key, below] of Object.entries(value)) visit(below, `${pointer}${escaped(key)}`)
        }
        visit(document, '')
        for (const [pointer, value] of seen) expect(at(document, pointer)).toBe(value)
      }),
    )
  })

  it('takes its keys out of the escapes they were put into, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), keys => {
        expect(parsePointer(keys.map(escaped).join(''))).toEqual(keys)
      }),
    )
  })

  it.each(['status', '/a~', '/a~2b', '~0', ' /a'])('is not %j', text => {
    expect(parsePointer(text)).toBe(null)
  })

  it('finds nothing in what a document does not say itself', () => {
    const document: unknown = JSON.parse('{"list": [1, 2], "text": "abc", "none": null}')
    for (const pointer of [
      '/missing',
      '/list/2',
      '/list/-',
      '/list/00',
      '/list/length',
      '/text/0',
      '/text/length',
      '/none/x',
      '/constructor',
      '/__proto__',
      '/list/__proto__',
    ]) {
      expect(at(document, pointer), pointer).toBe(undefined)
    }
    expect(at(document, '/none')).toBe(null)
    expect(at(JSON.parse('{"__proto__": 1}'), '/__proto__')).toBe(1)
  })
})
