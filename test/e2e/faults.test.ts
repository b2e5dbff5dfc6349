import fc from 'fast-check'
import { expect } from 'vitest'
import { plannedConnection } from './harness/exchange-plan.js'
import { FaultStand, UPSTREAMS } from './harness/fault-stand.js'
import { test } from './harness/stage.js'

/** Generated exchanges in all; each is what an app does, and what the upstream does to up to four attempts. */
const EXCHANGES = Number(process.env['FORBEAR_FAULT_RUNS'] ?? 1_500)
const SEED = Number(process.env['FORBEAR_FAULT_SEED'] ?? Date.now() % 2 ** 31)
/** Connections of the app that one seed makes, with two and a half exchanges each on average … */
const CONNECTIONS = 60
/** … and how many seeds run at a time. */
const LANES = 3
/** Each of these found something once. */
const REGRESSIONS: readonly number[] = []

/** Gives what went wrong, with all that is needed to see why. */
async function run(stand: FaultStand, seed: number): Promise<string[]> {
  const plans = fc.sample(plannedConnection(UPSTREAMS), { seed, numRuns: CONNECTIONS })
  const problems = await Promise.all(plans.map(plan => stand.run(plan)))
  const wrong = [...problems.flat(), ...stand.upstream.violations.splice(0)]
  if (stand.sidecar.exit) wrong.push(`the process ended with ${JSON.stringify(stand.sidecar.exit)}`)
  return wrong.map(problem => `seed ${seed}: ${problem}`)
}

test(`${EXCHANGES} generated exchanges get one sound answer each or a destroyed connection, and leave nothing behind`, {
  timeout: 60_000 + 60 * EXCHANGES,
}, async ({ stage }) => {
  const stand = await FaultStand.start(stage)
  console.log(`faults: FORBEAR_FAULT_SEED=${SEED}`)
  const before = await stand.atRest()
  const seeds = [...REGRESSIONS]
  let next = SEED
  const lane = async (): Promise<void> => {
    while (seeds.length > 0 || stand.exchanges < EXCHANGES)
      expect(await run(stand, seeds.shift() ?? next++)).toEqual([])
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  expect(await stand.atRest()).toEqual(before)
  expect(stand.sidecar.stderr).toBe('')
  expect(stand.sidecar.errorLines()).toEqual([])
})
