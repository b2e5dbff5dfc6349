import { describe, expect } from 'vitest'
import { calls, FILE, followed, POLL_MS } from '../e2e/harness/counted-policy.js'
import type { Sidecar } from '../e2e/harness/sidecar.js'
import { test } from '../e2e/harness/stage.js'
import { nowMs, sleep, until } from '../e2e/harness/time.js'

const URL = 'http://127.0.0.1:9'

/** Reloads after the start, as logged and as counted. */
async function reloads(sidecar: Sidecar): Promise<{ applied: number; lines: number; others: number }> {
  const metrics = await sidecar.metrics()
  const count = (result: string) => metrics.sum('forbear_policy_reloads_total', { result })
  const lines = sidecar.logs.filter(line => 'result' in line && 'trigger' in line && line['trigger'] !== 'start')
  return { applied: count('applied') - 1, lines: lines.length, others: count('rejected') + count('partial') }
}

describe.concurrent('F087: the events of a mounted directory are many, the reloads are not', () => {
  test('one swap is one reload and one line', async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const sidecar = await stage.sidecar(map)
    await map.write({ [FILE]: calls(URL, 2) })
    await followed('the swap', sidecar, 2, POLL_MS)
    await sleep(500)
    expect(await reloads(sidecar)).toEqual({ applied: 1, lines: 1, others: 0 })
  })

  test('twenty swaps in a second are few reloads, a line each, and the last wins', async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const sidecar = await stage.sidecar(map)
    const startMs = nowMs()
    for (let n = 1; n <= 20; n++) {
      await map.write({ [FILE]: calls(URL, n === 20 ? 6 : 2 + (n % 2)) })
      await sleep(Math.max(0, startMs + n * 50 - nowMs()))
    }
    await followed('the last swap', sidecar, 6, POLL_MS)
    await sleep(500)
    const { applied, lines, others } = await reloads(sidecar)
    expect([lines, others]).toEqual([applied, 0])
    expect(applied).toBeLessThanOrEqual(7)
    await followed('still the last swap', sidecar, 6, POLL_MS)
  })

  test('a swap of equal content is none', async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const sidecar = await stage.sidecar(map)
    const { generation, loadedAt } = await sidecar.status()
    await map.swap({ [FILE]: calls(URL, 1) })
    await sleep(1000)
    expect(await sidecar.status()).toMatchObject({ generation, loadedAt })
    expect(await reloads(sidecar)).toEqual({ applied: 0, lines: 0, others: 0 })
    await map.swap({ [FILE]: calls(URL, 2) })
    await followed('the next swap', sidecar, 2, POLL_MS)
    await until('one line', async () => (await reloads(sidecar)).lines === 1)
  })

  test('wishes by hand in a heap end with the last content and never two at once', async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const sidecar = await stage.sidecar(map)
    const asked: Promise<unknown>[] = []
    for (let n = 1; n <= 10; n++) {
      await map.write({ [FILE]: calls(URL, n === 10 ? 6 : 2 + (n % 2)) })
      sidecar.signal('SIGHUP')
      asked.push(sidecar.admin('/reload', { method: 'POST' }))
    }
    await Promise.all(asked)
    await followed('the last swap', sidecar, 6, POLL_MS)
    const numbers = sidecar.logs.filter(line => line['result'] === 'applied').map(line => line['generation'])
    expect(numbers).toEqual(numbers.map((_one, at) => at + 1))
    expect(sidecar.errorLines()).toEqual([])
  })
})
