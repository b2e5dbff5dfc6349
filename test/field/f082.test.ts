import { expect } from 'vitest'
import { calls, FILE, followed, POLL_MS } from '../e2e/harness/counted-policy.js'
import type { Sidecar } from '../e2e/harness/sidecar.js'
import { test } from '../e2e/harness/stage.js'

const URL = 'http://127.0.0.1:9'

/** What a dashboard over all replicas compares. */
async function inForce(sidecar: Sidecar) {
  const metrics = await sidecar.metrics()
  const { generation, hash, loadedAt } = await sidecar.status()
  expect(metrics.sum('forbear_policy_info', { hash })).toBe(1)
  expect(metrics.samples.filter(({ name }) => name === 'forbear_policy_info')).toHaveLength(1)
  expect(metrics.sum('forbear_policy_generation')).toBe(generation)
  expect(metrics.sum('forbear_policy_loaded_timestamp_seconds')).toBe(Date.parse(loadedAt) / 1000)
  return { hash, loadedAtMs: Date.parse(loadedAt) }
}

test('F082: of replicas that get an edit at different times, each tells which policies it has and since when', async ({
  stage,
}) => {
  const maps = [
    await stage.configMapDir({ [FILE]: calls(URL, 1) }),
    await stage.configMapDir({ [FILE]: calls(URL, 1) }),
  ]
  const [early, late] = await Promise.all(maps.map(map => stage.sidecar(map)) as [Promise<Sidecar>, Promise<Sidecar>])
  const before = [await inForce(early), await inForce(late)] as const
  expect(before[0].hash).toBe(before[1].hash)
  await maps[0]?.write({ [FILE]: calls(URL, 2) })
  await followed('the early one', early, 2, POLL_MS)
  const between = [await inForce(early), await inForce(late)] as const
  expect(between[1]).toEqual(before[1])
  expect(between[0].hash).not.toBe(before[0].hash)
  expect(between[0].loadedAtMs).toBeGreaterThan(before[0].loadedAtMs)
  await maps[1]?.write({ [FILE]: calls(URL, 2) })
  await followed('the late one', late, 2, POLL_MS)
  const after = [await inForce(early), await inForce(late)] as const
  expect(after[0]).toEqual(between[0])
  expect(after[1].hash).toBe(after[0].hash)
  expect(after[1].loadedAtMs).toBeGreaterThan(after[0].loadedAtMs)
})
