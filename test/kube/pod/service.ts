/** What stands before the pods of a service: a balancer, and those who call. */
import { request } from 'node:http'
import { sleep } from '../../e2e/harness/time.js'
import type { Placed } from './cluster.js'

/** Status of the app's answer; 599 for a call of its own that failed, 0 when it gave none. */
export function ask({ socket }: Placed, path: string): Promise<number> {
  return new Promise(resolve => {
    const req = request({ socketPath: socket, path, agent: false }, res => {
      res.resume()
      res.once('end', () => resolve(res.statusCode ?? 0))
      res.once('error', () => resolve(0))
    })
    req.once('error', () => resolve(0))
    req.end()
  })
}

export class Service {
  readonly #endpoints = new Set<Placed>()
  #next = 0

  add(placed: Placed): void {
    this.#endpoints.add(placed)
  }

  remove(placed: Placed): void {
    this.#endpoints.delete(placed)
  }

  get endpoints(): Placed[] {
    return [...this.#endpoints]
  }

  /** In turns. */
  call(path: string): Promise<number> {
    const placed = this.endpoints[this.#next++ % this.#endpoints.size]
    return placed === undefined ? Promise.resolve(0) : ask(placed, path)
  }
}

export interface Tally {
  readonly sent: number
  /** Status → how many; what was answered 200 is not among them. */
  readonly lost: Readonly<Record<number, number>>
}

/**
 * Calls whether or not earlier ones have come back, as long as `work` goes on. What a busy machine made late is left out,
 * not made up for: a burst would be a test of its own.
 */
export async function callingWhile(
  perSecond: number,
  send: () => Promise<number>,
  work: Promise<unknown>,
): Promise<Tally> {
  let over = false
  const end = work.finally(() => {
    over = true
  })
  const calls: Promise<number>[] = []
  while (!over) {
    calls.push(send())
    await sleep(1_000 / perSecond)
  }
  await end
  const lost: Record<number, number> = {}
  for (const status of await Promise.all(calls)) if (status !== 200) lost[status] = (lost[status] ?? 0) + 1
  return { sent: calls.length, lost }
}
