/** Parking where something goes wrong with what it stands on. */
import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { ample, type Document, quickRetry, temporary, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'

interface Entry {
  readonly id: string
  readonly state: string
  readonly attempts: number
  readonly last: string | null
}

const order = (key: string, body: string | Buffer = `order ${key}`) => ({
  method: 'POST',
  body,
  headers: { 'Idempotency-Key': key, Prefer: 'respond-async' },
})

async function entries(sidecar: Sidecar): Promise<Entry[]> {
  return (JSON.parse((await sidecar.admin('/parked')).text) as { entries: Entry[] }).entries
}

async function scene(stage: Stage, park: Document = {}, spec: Document = {}) {
  const upstream = await stage.upstream()
  const location = await temporary()
  stage.later(() => rm(location, { recursive: true, force: true }))
  const document = upstreamDoc('shop', upstream.url, {
    retry: quickRetry({ maxAttempts: 2 }),
    budget: ample,
    breaker: { mode: 'disabled' },
    ...spec,
    park: { store: location, first: '1h', every: '1h', ...park },
  })
  const dir = await stage.policyDir({ 'p.yaml': JSON.stringify(document) })
  return { upstream, location, dir, document }
}

describe('parking', () => {
  test('loses nothing that it acknowledges after a write that the disk cut short', async ({ stage }) => {
    const { upstream, dir } = await scene(stage)
    upstream.runs(() => ({ status: 503 }))
    // A file may not grow beyond 200 KiB: as on a full disk, what fits of a write is written and the rest is not.
    const sidecar = await stage.sidecar(dir, [], { through: ['bash', '-c', 'ulimit -S -f 200; exec "$@"', '-'] })
    let acknowledged = 0
    await until('the disk is full', async () => {
      const { status } = await sidecar.call('/shop/orders', order(`k${acknowledged}`, Buffer.alloc(30_000, 'a')))
      if (status === 202) acknowledged += 1
      return status === 503
    })
    execFileSync('prlimit', ['--pid', String(sidecar.child.pid), '--fsize=unlimited'])
    await until(
      'it parks again',
      async () => (await sidecar.call('/shop/orders', order('late'))).status === 202,
      15_000,
    )
    await sidecar.kill()
    expect(await entries(await stage.sidecar(dir))).toHaveLength(acknowledged + 1)
  }, 40_000)
})
