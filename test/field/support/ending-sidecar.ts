import { upstreamDoc } from '../../e2e/harness/policies.js'
import type { Sidecar } from '../../e2e/harness/sidecar.js'
import type { Stage } from '../../e2e/harness/stage.js'
import { pipelined } from './pipelined.js'

const ENDS = new URL('../fixtures/ends.mjs', import.meta.url).href

/** A ready sidecar that SIGUSR2 ends in one of the ways of `fixtures/ends.mjs`. */
export async function endingSidecar(stage: Stage, end: string, through: readonly string[] = []): Promise<Sidecar> {
  const upstream = await stage.upstream()
  const env = { FORBEAR_TEST_END: end, NODE_OPTIONS: `--import=${ENDS}` }
  return stage.sidecar([upstreamDoc('u', upstream.url)], ['--drain-period', '5s'], { env, through })
}

/** So many access-log lines of 1.4 kB; resolves when all calls are answered. */
export function logLines(sidecar: Sidecar, count: number): Promise<void> {
  const request = `GET /u/${'x'.repeat(1200)} HTTP/1.1\r\nHost: a\r\n\r\n`
  return pipelined(sidecar.port, new Array<string>(count).fill(request))
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
