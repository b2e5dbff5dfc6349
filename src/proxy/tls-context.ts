import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { TlsSettings } from '../core/snapshot.js'
import { CodedError } from './failure.js'

/**
 * The files of an upstream's `tls` section, read now. `caFile` replaces Node's own list of authorities, as a pinned
 * private authority should. An error is a value: it fails each attempt, not the reload.
 */
export function loadTlsContext(tls: TlsSettings): SecureContext | CodedError {
  try {
    return createSecureContext({
      ...(tls.caFile !== undefined && { ca: readFileSync(tls.caFile) }),
      ...(tls.certFile !== undefined && { cert: readFileSync(tls.certFile) }),
      ...(tls.keyFile !== undefined && { key: readFileSync(tls.keyFile) }),
    })
  } catch (error) {
    return new CodedError('TLS_FILES', error instanceof Error ? error.message : String(error))
  }
}
