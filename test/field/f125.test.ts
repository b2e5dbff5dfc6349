import { Agent } from 'node:http'
import { expect } from 'vitest'
import { failures, openLoop } from '../e2e/harness/load.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { test } from '../e2e/harness/stage.js'
import { sleep } from '../e2e/harness/time.js'

test('F125 while the pod ends but before SIGTERM (preStop, readiness turned red) nothing is cut or refused (istio#36631)', async ({
  stage,
}) => {
  const upstream = (await stage.upstream()).plays({ delayMs: 20, body: 'fine' })
  const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  stage.later(async () => agent.destroy())
  await sidecar.admin('/drain', { method: 'POST' })
  expect(await sidecar.health('/readyz')).toBe(503)
  const send = (n: number) => sidecar.call('/u/x', n % 2 === 0 ? { agent } : {})
  // Longer than the quiet after which SIGTERM would end the process, with and without calls.
  const during = await openLoop({ perSecond: 20, forMs: 1_000, send })
  await sleep(2_300)
  const after = await openLoop({ perSecond: 20, forMs: 500, send })
  expect(failures([...during, ...after])).toEqual({})
  expect(sidecar.exit).toBeNull()
  expect([await sidecar.health('/livez'), await sidecar.health('/startupz')]).toEqual([200, 200])
})
