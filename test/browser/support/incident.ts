/** A sidecar with an upstream that can fall ill, one that never does, and an app that keeps calling both. */
import { Agent } from 'node:http'
import { call } from '../../e2e/harness/client.js'
import { upstreamDoc } from '../../e2e/harness/policies.js'
import type { Sidecar } from '../../e2e/harness/sidecar.js'
import type { Stage } from '../../e2e/harness/stage.js'
import { sleep } from '../../e2e/harness/time.js'

const EVERY_MS = 40
/** Multiples of it, modulo 1, lie evenly: no run of failures is long unless most calls fail. */
const SPREAD = 0.618034

export interface Incident {
  readonly sidecar: Sidecar
  /** Share of the calls to `payments` that fail from now on. */
  failing(ratio: number): void
}

export async function incident(stage: Stage): Promise<Incident> {
  let [ratio, n] = [0, 0]
  const sick = (await stage.upstream()).runs(() => ({ status: (n++ * SPREAD) % 1 < ratio ? 503 : 200, delayMs: 2 }))
  const well = (await stage.upstream()).plays({ body: 'fine', delayMs: 2 })
  const spec = {
    retry: { maxAttempts: 3, backoff: { base: '20ms' } },
    budget: { ratio: 0.1, window: '5s', minPerSecond: 0.2 },
    breaker: { consecutiveFailures: 10, failureRatio: 1, openFor: '1s', maxOpenFor: '2s' },
    routes: [{ name: 'place-order', match: { methods: ['POST'], path: '/v1/orders' }, limits: { maxInFlight: 5 } }],
  }
  const documents = [upstreamDoc('payments', sick.url, spec), upstreamDoc('ledger', well.url)]
  const sidecar = await stage.sidecar(documents, ['--access-log', 'off'])
  void traffic(stage, sidecar.port)
  return { sidecar, failing: share => void (ratio = share) }
}

/** Until the end of the test. */
async function traffic(stage: Stage, port: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  let over = false
  stage.later(async () => {
    over = true
    agent.destroy()
  })
  while (!over) {
    for (const path of ['/payments/a', '/ledger/b']) call(port, path, { agent }).catch(() => undefined)
    await sleep(EVERY_MS)
  }
}
