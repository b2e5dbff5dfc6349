import type { AttemptFailure } from '../pipeline/ports.js'

/** No byte moved for `timeouts.idle`, and the upstream is to blame. */
export const IDLE_TIMEOUT = 'IDLE_TIMEOUT'
/** No byte moved for `timeouts.idle` because the app did not read its answer, or did not send its body. */
export const APP_IDLE_TIMEOUT = 'APP_IDLE_TIMEOUT'
/** The app's request body broke off; the app is gone or about to be. */
export const REQUEST_BODY = 'REQUEST_BODY'
export const CONNECT_TIMEOUT = 'CONNECT_TIMEOUT'
/** An address that an undeclared host must not lead to. */
export const FORBIDDEN_ADDRESS = 'FORBIDDEN_ADDRESS'
/** Below 100: no status at all (RFC 9110 §15). */
export const INVALID_STATUS = 'INVALID_STATUS'
/** ECONNRESET on a connection that stood, in disguise. */
export const RESET_BY_PEER = 'FORBEAR_RESET'
/** Its body is coded in a way that ends here, so that the app would get it mislabelled (RFC 9112 §6.1). */
export const TRANSFER_CODING = 'TRANSFER_CODING'
/** undici refused to write the request. */
export const INVALID_REQUEST = 'INVALID_REQUEST'

/** OpenSSL's verify results and alerts that speak of a certificate: no repetition mends them. */
const CERTIFICATE =
  /^(CERT_|CRL_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_SSL_.*(CERTIFICATE|UNKNOWN_CA))/

/** This host has no descriptor, memory or port left: no fault of the upstream. */
const HOST_SHORT_CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

const BAD_RESPONSE_CODES = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'ERR_ASSERTION',
  'UNEXPECTED_UPGRADE',
  'TOO_MANY_INTERIM',
  INVALID_STATUS,
  TRANSFER_CODING,
])

const INVALID_REQUEST_CODES = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
])

/** An error with a code, as Node and undici have them. */
export class CodedError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

export function codeOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === RESET_BY_PEER) return 'ECONNRESET'
  return typeof code === 'string' ? code : error.name
}

/**
 * A 304 tells the length of the body that it does not have (RFC 9110 §15.4.5), a 204 must not and some do (§8.6): complete
 * with its head, yet undici misses the body.
 */
export function isBodylessMismatch(status: number, code: string): boolean {
  return (status === 204 || status === 304) && code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
}

/** Before a connection stood: DNS, TCP, TLS, our own clock. */
export function connectFailure(error: Error): AttemptFailure {
  // Several addresses fail as one AggregateError, whose own message is empty.
  const cause = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  const code = codeOf(cause)
  const permanent = CERTIFICATE.test(code) || code === 'TLS_FILES'
  const refused = code === FORBIDDEN_ADDRESS
  const { address, port } = cause as { address?: string; port?: number }
  return {
    kind: connectKind(code),
    code,
    message: cause.message,
    // An address without a port is the path of a socket.
    ...(address !== undefined && port === undefined && { where: address }),
    permanent,
    refused,
    byApp: false,
    idleBeforeMs: null,
  }
}

export function connectKind(code: string): 'connect' | 'overloaded' {
  return HOST_SHORT_CODES.has(code) ? 'overloaded' : 'connect'
}

/** After the request was handed to a connection, before the response head. */
export function wireFailure(error: Error, idleBeforeMs: number | null): AttemptFailure {
  const code = codeOf(error)
  if (INVALID_REQUEST_CODES.has(code)) {
    return {
      kind: 'bad-response',
      code: INVALID_REQUEST,
      message: error.message,
      permanent: true,
      byApp: true,
      idleBeforeMs,
    }
  }
  const kind = isBadResponse(error, code) ? 'bad-response' : 'reset'
  // With TLS 1.3 a refused client certificate shows only after the handshake.
  const permanent = CERTIFICATE.test(code)
  return { kind, code, message: error.message, permanent, byApp: isByApp(code), idleBeforeMs }
}

/** Says nothing about the upstream. */
export function isByApp(code: string): boolean {
  return code === APP_IDLE_TIMEOUT || code === REQUEST_BODY
}

function isBadResponse(error: Error, code: string): boolean {
  if (BAD_RESPONSE_CODES.has(code) || code.startsWith('HPE_') || error.name === 'HTTPParserError') return true
  return code === 'UND_ERR_SOCKET' && (error.message === 'bad response' || error.message === 'bad upgrade')
}
