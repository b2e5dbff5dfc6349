import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBody } from '../../src/proxy/decode-body.js'

const CODERS = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync } as const
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (body: Uint8Array | null) => (body === null ? null : new TextDecoder().decode(body))
const MAX = 64 * 1024

describe('a coded body', () => {
  it('comes out as it went in, however often it was coded', () => {
    const codings = fc.array(fc.constantFrom<keyof typeof CODERS>('gzip', 'x-gzip', 'deflate', 'br'), { maxLength: 3 })
    fc.assert(
      fc.property(codings, fc.string(), (names, what) => {
        const coded = names.reduce<Uint8Array>((body, name) => CODERS[name](body), bytes(what))
        expect(text(decodeBody(coded, names.join(', '), MAX))).toBe(what)
      }),
    )
  })

  it('may be deflated without a wrapper, and says its coding in any case', () => {
    expect(text(decodeBody(deflateRawSync(bytes('{"a":1}')), 'Deflate', MAX))).toBe('{"a":1}')
    expect(text(decodeBody(bytes('as it is'), ' identity ', MAX))).toBe('as it is')
    expect(text(decodeBody(bytes('as it is'), '', MAX))).toBe('as it is')
  })

  it('is nothing when its coding is unknown or broken', () => {
    expect(decodeBody(bytes('x'), 'zstd', MAX)).toBe(null)
    expect(decodeBody(bytes('no gzip'), 'gzip', MAX)).toBe(null)
    expect(decodeBody(gzipSync(bytes('cut short')).subarray(0, 12), 'gzip', MAX)).toBe(null)
    expect(decodeBody(new Uint8Array(), 'gzip', MAX)).toBe(null)
  })

  it('is never made larger than allowed, at any stage', () => {
    const bomb = gzipSync(new Uint8Array(64 * 1024 * 1024))
    for (const [body, codings] of [
      [bomb, 'gzip'],
      [gzipSync(bomb), 'gzip, gzip'],
      [brotliCompressSync(new Uint8Array(MAX + 1)), 'br'],
      [new Uint8Array(MAX + 1), ''],
    ] as const) {
      expect(decodeBody(body, codings, MAX)).toBe(null)
    }
    expect(decodeBody(brotliCompressSync(new Uint8Array(MAX)), 'br', MAX)).toHaveLength(MAX)
  })

  it('is garbage without harm', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom('gzip', 'deflate', 'br', 'gzip, br'), (body, codings) => {
        const decoded = decodeBody(body, codings, 1000)
        expect(decoded === null || decoded.length <= 1000).toBe(true)
      }),
    )
  })
})
