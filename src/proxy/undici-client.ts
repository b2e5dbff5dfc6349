import { createRequire } from 'node:module'

/**
 * undici's HTTP/1.1 client by itself: the package's index also loads fetch, WebSocket, caches and mocks, two thirds of
 * its 90 ms, and a sidecar must be ready before its app's first call. The version is locked; a test starts the built
 * command, so a moved file cannot go unnoticed.
 */
export const Client = createRequire(import.meta.url)(
  'undici/lib/dispatcher/client.js',
) as typeof import('undici').Client
export type Client = InstanceType<typeof Client>
