/** The admin port of a running sidecar. Only reads. */
import { readCounts } from './read-counts.js'
import type { Look, StatusView } from './sidecar-view.js'

export interface AdminPort {
  readonly address: string
  /** Rejects with a sentence for people. */
  look(): Promise<Look>
  /** What is in force for an upstream; `undefined` when it has gone. */
  policyOf(upstream: string): Promise<unknown>
}

const TIMEOUT_MS = 5000

export function adminPort(address: string): AdminPort {
  return {
    address,
    async look() {
      const [status, metrics] = await Promise.all([read(address, '/status'), read(address, '/metrics')])
      const times = { atMs: Date.now(), tickMs: performance.now() }
      return { ...times, status: parsed<StatusView>(address, status), ...readCounts(metrics) }
    },
    async policyOf(upstream) {
      const all = parsed<{ upstreams: Record<string, unknown> }>(address, await read(address, '/policies'))
      return all.upstreams[upstream]
    },
  }
}

async function read(address: string, path: string): Promise<string> {
  try {
    const answer = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (answer.ok) return await answer.text()
    await answer.body?.cancel()
    throw new Error(`${address} answered ${answer.status} to ${path}; is it the admin port of a sidecar?`)
  } catch (error) {
    throw told(address, error as Error & { readonly cause?: { readonly code?: string } })
  }
}

function told(address: string, { name, message, cause }: Error & { cause?: { code?: string } }): Error {
  if (message.startsWith(address)) return new Error(message)
  const why = name === 'TimeoutError' ? `nothing within ${TIMEOUT_MS / 1000} s` : (cause?.code ?? message)
  return new Error(`no sidecar answers on ${address} (${why})`)
}

function parsed<T>(address: string, text: string): T {
  try {
    const value = JSON.parse(text) as T & { upstreams?: unknown }
    if (typeof value.upstreams === 'object' && value.upstreams !== null) return value
  } catch {
    // Said below.
  }
  throw new Error(`what answers on ${address} is no sidecar`)
}
