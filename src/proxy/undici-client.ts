import { createRequire } from 'node:module'

/**
 * undici's HTTP/1.1 client by itself: the package's index also loads fetch, WebSocket, caches and mocks, two thirds of
 * its 90 ms, and a sidecar must be ready before its app's first call. The version is locked; a test starts the built
 * command, so a moved file cannot go unnoticed.
 */
const load = createRequire(import.meta.url)
export const Client = load('undici/lib/dispatcher/client.js') as typeof import('undici').Client
// undici reads its parser with the first connection, which may be at a time when there is no descriptor left to read with.
load('undici/lib/llhttp/llhttp_simd-wasm.js')

export type Client = InstanceType<typeof Client>
