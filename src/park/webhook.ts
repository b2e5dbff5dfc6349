import type { Clock } from '../clock/clock.js'

/** What `onParked` and `onDead` are told: no header, query or body. */
export interface HookMessage {
  readonly event: 'parked' | 'dead'
  readonly id: string
  readonly upstream: string
  readonly route: string | null
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly why: string | null
  /** Redeliveries so far. */
  readonly attempts: number
  readonly parkedAt: string
  readonly location: string
}

const PATIENCE_MS = 5000
/** Waits between the tries, ms. */
const AGAIN_MS = [1000, 5000, 30_000] as const

/** Resolves with `null` once the hook has answered 2xx, or with what was wrong the last time. */
export async function callHook(clock: Clock, url: string, message: HookMessage): Promise<string | null> {
  let problem = await post(url, message)
  for (const waitMs of AGAIN_MS) {
    if (problem === null) return null
    await new Promise<void>(resolve => clock.after(waitMs, resolve))
    problem = await post(url, message)
  }
  return problem
}

async function post(url: string, message: HookMessage): Promise<string | null> {
  try {
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
      redirect: 'manual',
      signal,
    })
    await answer.body?.cancel()
    return answer.ok ? null : `status ${answer.status}`
  } catch (error) {
    const { cause, message: text } = error as Error & { cause?: { code?: string } }
    return cause?.code ?? text
  }
}
