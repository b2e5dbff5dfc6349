import { describe, expect } from 'vitest'
import { attempts, calls, FILE, followed, POLL_MS } from '../e2e/harness/counted-policy.js'
import type { Sidecar } from '../e2e/harness/sidecar.js'
import { test } from '../e2e/harness/stage.js'
import { sleep, until } from '../e2e/harness/time.js'

const URL = 'http://127.0.0.1:9'

/** Generations in the order in which they came into force, as logged. */
const generations = (sidecar: Sidecar) =>
  sidecar.logs.filter(line => line['result'] === 'applied').map(line => line['generation'])

describe.concurrent('F078: not only the first edit is noticed', () => {
  test('five swaps with a second between', { timeout: 60_000 }, async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const sidecar = await stage.sidecar(map)
    for (const expected of [2, 3, 4, 5, 6]) {
      await sleep(1000)
      await map.write({ [FILE]: calls(URL, expected) })
      await followed(`swap ${expected}`, sidecar, expected, POLL_MS)
    }
    expect(generations(sidecar)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('five replacements by an editor', { timeout: 60_000 }, async ({ stage }) => {
    const dir = await stage.policyDir({ [FILE]: calls(URL, 1) })
    const sidecar = await stage.sidecar(dir)
    for (const expected of [2, 3, 4, 5, 6]) {
      await dir.replace(FILE, calls(URL, expected))
      await followed(`replacement ${expected}`, sidecar, expected, POLL_MS)
    }
    expect(generations(sidecar)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('a file that is deleted and made anew two seconds later', { timeout: 60_000 }, async ({ stage }) => {
    const dir = await stage.policyDir({ [FILE]: calls(URL, 2) })
    const sidecar = await stage.sidecar(dir)
    await dir.remove(FILE)
    await sleep(2000)
    await until('it is told', () => sidecar.errorLines().length > 0, POLL_MS)
    expect(await attempts(sidecar)).toBe(2)
    await dir.write(FILE, calls(URL, 3))
    await followed('the new file', sidecar, 3, POLL_MS)
    await dir.write(FILE, calls(URL, 4))
    await followed('its edit', sidecar, 4, POLL_MS)
    expect(sidecar.errorLines()).toHaveLength(1)
  })
})
