import { describe, expect, it } from 'vitest'
import { repeatability, repeatable } from '../../src/core/idempotency.js'

const settings = { keyHeaders: ['idempotency-key', 'paypal-request-id'], generate: false }
const generating = { ...settings, generate: true }

describe('idempotency', () => {
  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])('lets %s be repeated', method => {
    expect(repeatability(method, [], settings)).toEqual({ kind: 'idempotent' })
  })

  it.each(['POST', 'PATCH', 'QUERY', 'get', 'CONNECT'])('does not let a plain %s be repeated', method => {
    expect(repeatability(method, [], settings)).toEqual({ kind: 'none' })
  })

  it('lets a POST with a key be repeated and names the header', () => {
    expect(repeatability('POST', ['PayPal-Request-Id', 'k'], settings)).toEqual({
      kind: 'keyed',
      header: 'paypal-request-id',
    })
  })

  it('takes the first configured header that carries a key', () => {
    const headers = ['PayPal-Request-Id', 'k', 'Idempotency-Key', '"q"']
    expect(repeatability('POST', headers, settings)).toEqual({ kind: 'keyed', header: 'idempotency-key' })
  })

  it.each(['', '  ', '""'])('does not take %j for a key', value => {
    expect(repeatability('POST', ['Idempotency-Key', value], settings)).toEqual({ kind: 'none' })
  })

  it('knows a keyed PUT and DELETE, since their 409 may mean "still running"', () => {
    expect(repeatability('PUT', ['Idempotency-Key', 'k'], settings).kind).toBe('keyed')
    expect(repeatability('DELETE', ['Idempotency-Key', 'k'], settings).kind).toBe('keyed')
  })

  it('ignores a key on a GET', () => {
    expect(repeatability('GET', ['Idempotency-Key', 'k'], settings).kind).toBe('idempotent')
  })

  it('generates a key only for a request that has none and needs one', () => {
    expect(repeatability('POST', [], generating)).toEqual({ kind: 'generate' })
    expect(repeatability('POST', ['Idempotency-Key', 'k'], generating).kind).toBe('keyed')
    expect(repeatability('PUT', [], generating).kind).toBe('idempotent')
  })

  it('cannot generate a key without a header to carry it', () => {
    expect(repeatability('POST', [], { keyHeaders: [], generate: true })).toEqual({ kind: 'none' })
  })

  it('calls all but "none" repeatable', () => {
    expect((['idempotent', 'keyed', 'generate', 'none'] as const).map(repeatable)).toEqual([true, true, true, false])
  })
})
