import { createRequire } from 'node:module'
import type { Socket } from 'node:net'

/**
 * undici's HTTP/1.1 client by itself: the package's index also loads fetch, WebSocket, caches and mocks, two thirds of
 * its 90 ms, and a sidecar must be ready before its app's first call. The version is locked; a test starts the built
 * command, so a moved file cannot go unnoticed.
 */
export const Client = createRequire(import.meta.url)(
  'undici/lib/dispatcher/client.js',
) as typeof import('undici').Client
// undici reads its parser with the first connection, which may be at a time when there is no descriptor left to read with.
createRequire(import.meta.url)('undici/lib/llhttp/llhttp_simd-wasm.js')

const { kParser } = createRequire(import.meta.url)('undici/lib/core/symbols.js') as { readonly kParser: symbol }

interface Parser {
  statusText: string
  onStatus(bytes: Buffer): 0
}

/** undici reads the reason phrase as UTF-8, so that bytes which are none are lost; RFC 9112 §4 allows any above 0x7f. */
export function readStatusAsLatin1(socket: Socket): void {
  const parser = (socket as unknown as Record<symbol, Parser | undefined>)[kParser]
  if (parser !== undefined) parser.onStatus = onStatus
}

function onStatus(this: Parser, bytes: Buffer): 0 {
  this.statusText = bytes.toString('latin1')
  return 0
}

export type Client = InstanceType<typeof Client>
