import fc from 'fast-check'
import { expect } from 'vitest'
import { plannedConnection } from './harness/exchange-plan.js'
import { FaultStand, UPSTREAMS } from './harness/fault-stand.js'
import { test } from './harness/stage.js'
import { nowMs } from './harness/time.js'

/** Of the load alone. */
const SECONDS = Number(process.env['FORBEAR_SOAK_SECONDS'] ?? 20)
const SEED = Number(process.env['FORBEAR_FAULT_SEED'] ?? Date.now() % 2 ** 31)
/** Connections of the app at a time. */
const LANES = 24
/** At the end of each part calls and connections end, so that what is left can be told from what is in use. */
const PARTS = SECONDS < 300 ? 4 : 10
/** A short run has not come to rest: the allocator is still taking its share of memory. */
const MOST_GROWN_RSS = SECONDS < 300 ? 1.5 : 1.1

interface Reading {
  readonly heapBytes: number
  readonly externalBytes: number
  readonly rssBytes: number
  readonly descriptors: number
  readonly handles: number
  readonly timers: number
  readonly sockets: number
}

async function load(stand: FaultStand, seed: number, forMs: number): Promise<string[]> {
  const untilMs = nowMs() + forMs
  const problems: string[] = []
  const lane = async (n: number): Promise<void> => {
    for (const plan of endless(seed + n)) {
      if (nowMs() > untilMs) return
      problems.push(...(await stand.run(plan)))
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)))
  return [...problems, ...stand.upstream.violations.splice(0)]
}

function* endless(seed: number) {
  for (let n = 0; ; n++) yield* fc.sample(plannedConnection(UPSTREAMS), { seed: seed + 1_000 * n, numRuns: 20 })
}

/** When nothing goes on, and no connection to an upstream is left. */
async function read(stand: FaultStand): Promise<Reading> {
  const { descriptors, handles } = await stand.atRest()
  const { heapBytes, externalBytes } = await stand.sidecar.probe()
  const { timers, sockets } = await stand.sidecar.countObjects()
  const rssBytes = await stand.sidecar.memoryBytes('VmRSS')
  const allHandles = Object.values(handles).reduce((a, b) => a + b, 0)
  return { heapBytes, externalBytes, rssBytes, descriptors, handles: allHandles, timers, sockets }
}

test(`after ${SECONDS} s of mixed traffic with faults the process holds what it held before, and has warned of nothing`, {
  timeout: 120_000 + 2_000 * SECONDS,
}, async ({ stage }) => {
  const stand = await FaultStand.start(stage, ['--access-log', 'off', '--log-level', 'warn'])
  console.log(`soak: ${SECONDS} s, FORBEAR_FAULT_SEED=${SEED}`)
  const readings: Reading[] = []
  for (let n = 0; n < PARTS; n++) {
    expect(await load(stand, SEED + 100_000 * n, (SECONDS * 1_000) / PARTS)).toEqual([])
    const reading = await read(stand)
    readings.push(reading)
    console.log(`${stand.exchanges} exchanges: ${JSON.stringify(reading)}`)
  }
  // The first part warms up: code is compiled, pools and tables reach their size.
  const [, early, ...later] = readings as [Reading, Reading, ...Reading[]]
  for (const one of later) {
    expect(one.descriptors).toBeLessThanOrEqual(early.descriptors + 1)
    expect([one.handles, one.sockets]).toEqual([early.handles, early.sockets])
    // A few come and go; one that stayed for each exchange would make thousands.
    expect(one.timers).toBeLessThanOrEqual(early.timers + 3)
    expect(one.heapBytes).toBeLessThan(1.15 * early.heapBytes)
    expect(one.rssBytes).toBeLessThan(MOST_GROWN_RSS * early.rssBytes)
  }
  expect(stand.sidecar.stderr).toBe('')
  expect(stand.sidecar.errorLines()).toEqual([])
  expect(stand.sidecar.exit).toBe(null)
})
