/** What to say to bytes that are not a request. */

import type { OwnReason } from '../core/reasons.js'
import type { Notice } from '../telemetry/events.js'

export interface ClientError extends Error {
  readonly code?: string
  /** The parser's own words; never bytes of the app. */
  readonly reason?: string
  readonly rawPacket?: Buffer
}

export interface ClientErrorVerdict {
  /** `null` = close without a word: nobody is there to read it, or nothing was asked. */
  readonly answer: { readonly reason: OwnReason; readonly detail: string } | null
  readonly notice: Notice | null
}

const TLS_HANDSHAKE = 0x16

/** `bytesRead` = bytes that came on this connection. */
export function judgeClientError(error: ClientError, bytesRead: number, maxHeaderBytes: number): ClientErrorVerdict {
  const code = error.code ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') {
    return refusal('headers-too-large', `The head of the request is larger than ${maxHeaderBytes} bytes.`, code)
  }
  if (code === 'HPE_PAUSED_H2_UPGRADE') {
    return refusal('bad-request', 'HTTP/2 with prior knowledge is not spoken here, use HTTP/1.1.', code)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    // A connection opened in advance is no fault.
    if (bytesRead === 0) return { answer: null, notice: null }
    return refusal('bad-request', 'The head of the request did not arrive in time.', code)
  }
  if (!code.startsWith('HPE_')) return { answer: null, notice: null }
  if (error.rawPacket?.[0] === TLS_HANDSHAKE) {
    return refusal(
      'bad-request',
      'This looks like TLS: call the sidecar with http://, the policy decides about TLS.',
      code,
    )
  }
  return refusal('bad-request', `This is not a valid HTTP/1.1 request: ${error.reason ?? 'parse error'}.`, code)
}

function refusal(reason: OwnReason, detail: string, code: string): ClientErrorVerdict {
  return {
    answer: { reason, detail },
    notice: { type: 'notice', level: 'warn', message: `request refused: ${detail}`, detail: { reason, code } },
  }
}
