/** F130 linkerd/linkerd2#1378, apache/shenyu#6671, zsais/go-gin-prometheus#36 */
import { METHODS } from 'node:http'
import { describe, expect } from 'vitest'
import { upstreamDoc } from '../e2e/harness/policies.js'
import type { Sidecar } from '../e2e/harness/sidecar.js'
import { test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'
import { pipelined } from './support/pipelined.js'

const CALLS = 10_000
const LANES = 20
/** CONNECT and upgrades take a connection for themselves. */
const SAFE = METHODS.filter(method => method !== 'CONNECT')

/** A request that differs from every other in all that an app may choose. */
function odd(n: number): string {
  const method = SAFE[n % SAFE.length]
  const target =
    n % 3 === 0 ? `http://host-${n}.test/${n}` : `/${n % 2 === 0 ? 'u/' : ''}${n}/${'p'.repeat(n % 50)}?q=${n}`
  const fields = [
    `Host: host-${n}.test`,
    `X-Name-${n}: ${n}`,
    `User-Agent: agent-${n}`,
    `traceparent: 00-${String(n + 1).padStart(32, '0')}-b7ad6b7169203331-01`,
    `baggage: user=${n}`,
    ...(n % 7 === 0 ? [`forbear-upstream: up-${n}`] : []),
    ...(n % 11 === 0 ? [`forbear-attempt: ${n}`] : []),
  ]
  return `${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`
}

async function handled(sidecar: Sidecar): Promise<number> {
  return (await sidecar.metrics()).sum('forbear_requests_total')
}

describe.each([
  ['as it is', {}],
  ['with traces', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '100' }],
])('F130 whatever the app makes up, %s', (_, env) => {
  test('10,000 different paths, hosts, methods and fields leave the number of series where it was', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], ['--access-log', 'off'], { env })
    const wave = (from: number, to: number) => Array.from({ length: to - from }, (_each, at) => odd(from + at))
    // Each kind of request has been seen once: all methods, every place to be found and not found.
    const first = 30 * SAFE.length
    await pipelined(sidecar.port, wave(0, first))
    await until('the first are counted', async () => (await handled(sidecar)) >= first)
    const before = (await sidecar.metrics()).ownSeries()
    const lanes = Array.from({ length: LANES }, (_each, lane) => {
      const size = CALLS / LANES
      return pipelined(sidecar.port, wave(first + lane * size, first + (lane + 1) * size))
    })
    await Promise.all(lanes)
    await until('all are counted', async () => (await handled(sidecar)) >= first + CALLS)
    const metrics = await sidecar.metrics()
    expect(metrics.ownSeries()).toEqual(before)
    expect(metrics.text).not.toMatch(/host-\d|up-\d|agent-\d/)
    const labels = new Set(
      metrics.samples.filter(({ name }) => name.startsWith('forbear_')).map(({ labels: of }) => of['method']),
    )
    expect([...labels].filter(Boolean).length).toBeLessThanOrEqual(9)
    const status = await sidecar.admin('/status')
    expect(status.text).not.toMatch(/host-\d|up-\d|agent-\d/)
  }, 60_000)
})
