import { upstreamDoc } from '../../e2e/harness/policies.js'
import type { Sidecar } from '../../e2e/harness/sidecar.js'
import type { Stage } from '../../e2e/harness/stage.js'
import { until } from '../../e2e/harness/time.js'

const ENDS = new URL('../fixtures/ends.mjs', import.meta.url).href

/** A ready sidecar that SIGUSR2 ends in one of the ways of `fixtures/ends.mjs`. */
export async function endingSidecar(stage: Stage, end: string, through: readonly string[] = []): Promise<Sidecar> {
  const upstream = await stage.upstream()
  const env = { FORBEAR_TEST_END: end, NODE_OPTIONS: `--import=${ENDS}` }
  return stage.sidecar([upstreamDoc('u', upstream.url)], ['--drain-period', '5s'], { env, through })
}

/** About 1 MB of access log; resolves when all are answered. */
export async function logMegabyte(sidecar: Sidecar, calls = 700): Promise<void> {
  const path = `/u/${'x'.repeat(1200)}`
  for (let n = 0; n < calls; n += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => sidecar.call(path)))
    if (answers.some(({ status }) => status !== 200)) throw new Error('a call failed')
  }
}

/** From now on its output is read in small pieces with rests, as a log collector that is behind does. */
export function readSlowly(sidecar: Sidecar): void {
  const { stdout } = sidecar.child
  stdout?.on('data', () => {
    stdout.pause()
    setTimeout(() => stdout.resume(), 5)
  })
  stdout?.resume()
}

export const linesWith = (sidecar: Sidecar, msg: string) => sidecar.logs.filter(line => line['msg'] === msg)

export function settled(sidecar: Sidecar): Promise<unknown> {
  return until('the sidecar has exited', () => sidecar.exit !== null, 20_000)
}
