/** A sidecar with one upstream that is well, one that fails now and then, and one that nobody listens for. */
import { upstreamDoc } from '../../e2e/harness/policies.js'
import { freePort } from '../../e2e/harness/ports.js'
import type { Sidecar } from '../../e2e/harness/sidecar.js'
import type { Stage } from '../../e2e/harness/stage.js'

export interface SickSidecar {
  readonly sidecar: Sidecar
  readonly admin: string
}

/** Calls go on until the stage closes. */
export async function sickSidecar(stage: Stage): Promise<SickSidecar> {
  const [well, flaky] = [await stage.upstream(), await stage.upstream()]
  let calls = 0
  flaky.runs(() => ({ status: calls++ % 2 === 0 ? 503 : 200 }))
  const sidecar = await stage.sidecar([
    upstreamDoc('ledger', well.url),
    upstreamDoc('payments', flaky.url, {
      breaker: { mode: 'observe' },
      routes: [{ name: 'orders', match: { path: '/orders' }, budget: { ratio: 0.1 } }],
    }),
    upstreamDoc('stock', `http://127.0.0.1:${await freePort()}`),
  ])
  stage.later(keepCalling(sidecar, ['/ledger/', '/payments/', '/payments/orders', '/stock/']))
  return { sidecar, admin: `127.0.0.1:${sidecar.adminPort}` }
}

/** Gives what stops it. */
function keepCalling(sidecar: Sidecar, paths: readonly string[]): () => Promise<void> {
  const timer = setInterval(() => {
    for (const path of paths) sidecar.call(path).catch(() => undefined)
  }, 50)
  return async () => clearInterval(timer)
}
