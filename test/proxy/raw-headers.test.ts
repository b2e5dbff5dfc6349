import { describe, expect, it } from 'vitest'
import { decodeHeaders, hasForeignCoding, requestHeaders } from '../../src/proxy/raw-headers.js'

describe('request fields', () => {
  it('keep order and case, with ours in place of equally named ones and the length last', () => {
    const app = ['X-A', '1', 'BAGGAGE', 'old', 'x-a', '2', 'Accept', '*/*']
    expect(requestHeaders('h:1', app, ['baggage', 'new', 'forbear-attempt', '2'], 5)).toEqual(
      'Host h:1 X-A 1 x-a 2 Accept */* baggage new forbear-attempt 2 Content-Length 5'.split(' '),
    )
    expect(requestHeaders('h', [], [], null)).toEqual(['Host', 'h'])
  })
})

describe('response fields', () => {
  it('are latin1, whatever their bytes', () => {
    expect(decodeHeaders([Buffer.from('X'), Buffer.from([0x61, 0xff, 0x80])])).toEqual(['X', 'a\xff\x80'])
    expect(decodeHeaders([])).toEqual([])
  })
})

describe('a transfer coding', () => {
  it('is chunked alone, in whatever case, or foreign', () => {
    expect(hasForeignCoding(['X-Transfer-Coding', 'gzip', 'TE', 'gzip'])).toBe(false)
    expect(hasForeignCoding(['TRANSFER-encoding', ' Chunked '])).toBe(false)
    for (const value of ['gzip', 'gzip, chunked', 'chunked, chunked', 'identity', '']) {
      expect(hasForeignCoding(['Transfer-Encoding', value])).toBe(true)
    }
  })
})
