/** Open-loop load: calls leave at their instants whether or not earlier ones have come back. */
import type { Answer } from './client.js'
import { nowMs, sleep } from './time.js'

export interface Shot {
  /** 0-based. */
  readonly n: number
  readonly startedMs: number
  readonly endedMs: number
  /** 0 when no complete answer came. */
  readonly status: number
  readonly outcome: string
  readonly attempts: number
  /** Why no answer came, or ''. */
  readonly error: string
}

export interface LoadOptions {
  readonly perSecond: number
  readonly forMs: number
  readonly send: (n: number) => Promise<Answer>
  /** Stops sending early. */
  readonly stop?: () => boolean
}

/** Resolves when the last call has ended. */
export async function openLoop({ perSecond, forMs, send, stop }: LoadOptions): Promise<Shot[]> {
  const total = Math.round((perSecond * forMs) / 1_000)
  const startMs = nowMs()
  const shots: Promise<Shot>[] = []
  while (shots.length < total && !stop?.()) {
    const dueMs = startMs + (shots.length * 1_000) / perSecond
    const waitMs = dueMs - nowMs()
    if (waitMs > 0) await sleep(waitMs)
    else shots.push(shoot(shots.length, send))
  }
  return Promise.all(shots)
}

async function shoot(n: number, send: (n: number) => Promise<Answer>): Promise<Shot> {
  const startedMs = nowMs()
  try {
    const answer = await send(n)
    const outcome = String(answer.headers['forbear-outcome'] ?? '')
    const attempts = Number(answer.headers['forbear-attempts'] ?? Number.NaN)
    return { n, startedMs, endedMs: nowMs(), status: answer.status, outcome, attempts, error: '' }
  } catch (error) {
    return { n, startedMs, endedMs: nowMs(), status: 0, outcome: '', attempts: 0, error: String(error) }
  }
}

export const okRatio = (shots: readonly Shot[]): number =>
  shots.filter(shot => shot.status === 200).length / Math.max(1, shots.length)

/** Status and outcome of the shots that are not 200, with their number: what to print when a ratio is too low. */
export function failures(shots: readonly Shot[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const shot of shots) {
    if (shot.status === 200) continue
    const what = `${shot.status} ${shot.outcome} ${shot.error}`.trim()
    counts[what] = (counts[what] ?? 0) + 1
  }
  return counts
}
