import { describe, expect, it } from 'vitest'
import { CodedError, connectFailure, wireFailure } from '../../src/proxy/failure.js'

describe('a certificate error', () => {
  it('is permanent, before the connection stood or after', () => {
    const codes = [
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
      'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    ]
    for (const code of codes) {
      expect(connectFailure(new CodedError(code, ''))).toMatchObject({ kind: 'connect', code, permanent: true })
      expect(wireFailure(new CodedError(code, ''), 5)).toMatchObject({ kind: 'reset', code, permanent: true })
    }
  })

  it('is told from errors that pass', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'ERR_SSL_WRONG_VERSION_NUMBER']) {
      expect(connectFailure(new CodedError(code, '')).permanent).toBe(false)
    }
  })
})

describe('a host that has run out of descriptors, memory or ports', () => {
  it('is to blame itself', () => {
    for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']) {
      expect(connectFailure(new CodedError(code, ''))).toMatchObject({ kind: 'overloaded', code, permanent: false })
    }
  })
})

describe('several addresses that all fail', () => {
  it('are told by the first', () => {
    const error = new AggregateError([new CodedError('ECONNREFUSED', 'connect ECONNREFUSED ::1'), new Error('other')])
    expect(connectFailure(error)).toMatchObject({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED ::1' })
  })
})
