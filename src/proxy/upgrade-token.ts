/** Which Upgrade requests are tunnelled, and how the others become ordinary requests. */
import type { IncomingMessage } from 'node:http'

/** What is tunnelled unless configured otherwise. */
export const DEFAULT_UPGRADE_TOKENS: readonly string[] = ['websocket']

/**
 * The protocol to tunnel, or `null`: the request is served as if it had not asked (RFC 9110 §7.8 lets a server ignore
 * Upgrade, and tells it to in HTTP/1.0; Java's client offers h2c with every plain request).
 */
export function tunnelToken(request: IncomingMessage, tokens: readonly string[]): string | null {
  const offered = request.headers.upgrade
  if (offered === undefined || request.method !== 'GET' || request.httpVersionMinor === 0) return null
  for (const part of offered.split(',')) {
    const token = part.trim()
    if (tokens.includes(token.toLowerCase())) return token
  }
  return null
}

/**
 * Newer Node asks whether to hand the connection over; older Node always does. An ignored offer is best handed over too,
 * because Node loses bytes pipelined behind it otherwise; but newer Node would keep its body back.
 */
export function givesUpConnection(request: IncomingMessage, tokens: readonly string[]): boolean {
  const length = request.headers['content-length']
  const hasBody = request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  return !hasBody || tunnelToken(request, tokens) !== null
}

/** The head of the request without the offer, to be parsed again. */
export function headWithoutUpgrade(request: IncomingMessage): string {
  let text = `${request.method} ${request.url} HTTP/${request.httpVersion}\r\n`
  const raw = request.rawHeaders
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    if (lower === 'upgrade' || lower === 'http2-settings') continue
    const value = lower === 'connection' ? withoutOffer(raw[i + 1] as string) : (raw[i + 1] as string)
    if (lower !== 'connection' || value !== '') text += `${name}: ${value}\r\n`
  }
  return `${text}\r\n`
}

function withoutOffer(connection: string): string {
  const options = connection.split(',').map(option => option.trim())
  return options.filter(option => !/^(?:upgrade|http2-settings)$/i.test(option)).join(', ')
}
