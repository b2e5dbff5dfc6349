import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  forwardRequestHeaders,
  forwardResponseHeaders,
  forwardTrailers,
  nominatedFields,
} from '../../src/proxy/headers.js'

const VIA = '1.1 forbear'
const request = (...raw: string[]) => forwardRequestHeaders(raw, VIA)
const response = (...raw: string[]) => forwardResponseHeaders(raw, VIA, { length: 'keep', canChunk: true })

describe('fields of a request', () => {
  it('keep name case, value bytes, order and duplicates', () => {
    const raw = ['X-b', '1', 'ACCEPT', 'a;q=\xe9', 'x-B', '2', 'Cookie', 'a=1; b=2']
    expect(request(...raw)).toEqual([...raw, 'Via', VIA])
  })

  it('lose every hop-by-hop field in any case', () => {
    const raw = [
      ...['Connection', 'keep-alive', 'KEEP-ALIVE', 'timeout=9', 'te', 'trailers', 'Proxy-Authorization', 'Basic eA=='],
      ...['proxy-connection', 'x', 'Transfer-Encoding', 'chunked', 'Upgrade', 'h2c', 'HTTP2-Settings', 'AAM'],
      ...['Trailer', 'x-sum', 'Expect', '100-continue', 'Host', 'a', 'Content-Length', '3', 'X', '1'],
    ]
    expect(request(...raw)).toEqual(['X', '1', 'Via', VIA])
  })

  it('lose what Connection nominates, wherever it stands, over several Connection fields', () => {
    const raw = [
      'X-Secret',
      '1',
      'Connection',
      'keep-alive, X-Secret',
      'connection',
      ' ,x-other ,',
      'X-Other',
      '2',
      'x-secret',
      '3',
    ]
    expect(request(...raw)).toEqual(['Via', VIA])
  })

  it('cannot be robbed of framing by nomination', () => {
    expect([...(nominatedFields(['Connection', 'content-length, host, close, transfer-encoding']) ?? [])]).toEqual([])
    expect(response('Connection', 'Content-Length', 'Content-Length', '3')).toEqual(['Content-Length', '3', 'Via', VIA])
  })

  it('cannot be robbed by nomination of what bounds loops and layers', () => {
    expect([
      ...(nominatedFields(['Connection', 'Via, forbear-attempt, Forbear-Timeout-Ms, forbear-, x']) ?? []),
    ]).toEqual(['forbear-', 'x'])
    expect(request('Connection', 'via', 'Via', '1.1 a')).toEqual(['Via', '1.1 a', 'Via', VIA])
    expect(response('Connection', 'forbear-exhausted', 'forbear-exhausted', 'reset')).toEqual([
      ...['forbear-exhausted', 'reset', 'Via', VIA],
    ])
  })

  it('lose inbound forbear fields, but not a name that only begins alike', () => {
    expect(request('Forbear-Attempt', '2', 'forbear-timeout-ms', '1', 'forbearance', '1', 'F', '1')).toEqual([
      ...['forbearance', '1', 'F', '1', 'Via', VIA],
    ])
  })

  it('gain our Via after the one that was there', () => {
    expect(request('Via', '1.1 other')).toEqual(['Via', '1.1 other', 'Via', VIA])
  })
})

describe('fields of a response', () => {
  it('keep three Set-Cookie lines in order', () => {
    const raw = ['Set-Cookie', 'a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT', 'set-cookie', 'b=2', 'Set-Cookie', 'c=3']
    expect(response(...raw)).toEqual([...raw, 'Via', VIA])
  })

  it('lose the upstream connection options and its forbear fields but forbear-exhausted', () => {
    const raw = ['Connection', 'close, X-Hop', 'X-Hop', '1', 'Keep-Alive', 'timeout=5', 'Proxy-Authenticate', 'Basic']
    expect(response(...raw, 'forbear-outcome', 'delivered', 'Forbear-Exhausted', '1')).toEqual([
      ...['Forbear-Exhausted', '1', 'Via', VIA],
    ])
  })

  it('keep Trailer only before a chunked body', () => {
    expect(response('Trailer', 'x-sum', 'Content-Length', '2')).toEqual(['Content-Length', '2', 'Via', VIA])
    expect(response('Trailer', 'x-sum', 'Transfer-Encoding', 'chunked')).toEqual(['Trailer', 'x-sum', 'Via', VIA])
    const framing = { length: 'keep', canChunk: false } as const
    expect(forwardResponseHeaders(['Trailer', 'x-sum'], VIA, framing)).toEqual(['Via', VIA])
  })

  it('lose Content-Length when the caller declares it, or when Transfer-Encoding overrides it', () => {
    const framing = { length: 'drop', canChunk: false } as const
    expect(forwardResponseHeaders(['Content-Length', '2', 'X', '1'], VIA, framing)).toEqual(['X', '1', 'Via', VIA])
    expect(response('Content-Length', '2', 'Transfer-Encoding', 'chunked')).toEqual(['Via', VIA])
  })
})

describe('trailers', () => {
  it('lose framing and hop-by-hop fields', () => {
    const raw = [
      'X-Sum',
      '7',
      'Content-Length',
      '1',
      'Transfer-Encoding',
      'chunked',
      'trailer',
      'x',
      'forbear-outcome',
      'x',
    ]
    expect(forwardTrailers(raw)).toEqual(['X-Sum', '7'])
  })
})

describe('any list of fields', () => {
  const hop = [
    'connection',
    'keep-alive',
    'te',
    'transfer-encoding',
    'upgrade',
    'proxy-connection',
    'proxy-authorization',
    'http2-settings',
  ]
  const name = fc.oneof(
    fc.constantFrom('X-A', 'x-b', 'Accept', 'Cookie', ...hop),
    fc.stringMatching(/^[!#-'*+.A-Z^-z|~-]{1,20}$/),
  )
  const fields = fc.array(fc.tuple(name, fc.constantFrom('1', 'x-b, accept', 'close', '')), { maxLength: 12 })

  it('comes out as a subsequence without hop-by-hop fields, and a second pass removes nothing', () => {
    fc.assert(
      fc.property(fields, pairs => {
        const out = forwardRequestHeaders(pairs.flat(), VIA)
        const kept = out.slice(0, -2)
        let from = 0
        for (let i = 0; i < kept.length; i += 2) {
          expect(hop).not.toContain((kept[i] as string).toLowerCase())
          const at = pairs.findIndex((pair, n) => n >= from && pair[0] === kept[i] && pair[1] === kept[i + 1])
          expect(at).toBeGreaterThanOrEqual(from)
          from = at + 1
        }
        expect(forwardRequestHeaders(kept, VIA)).toEqual(out)
      }),
    )
  })
})
