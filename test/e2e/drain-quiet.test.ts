import { expect } from 'vitest'
import { upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { nowMs } from './harness/time.js'

test('--drain-quiet says how long without a call SIGTERM waits, which may be no time at all', async ({ stage }) => {
  const policies = [upstreamDoc('payments', 'http://payments.shop')]
  const slow = await stage.sidecar(policies, ['--drain-quiet', '4s'])
  const fast = await stage.sidecar(policies, ['--drain-quiet', '0s'])
  const signalledMs = nowMs()
  for (const one of [slow, fast]) one.signal('SIGTERM')
  const [late, early] = await Promise.all([slow.exitWithin(15_000), fast.exitWithin(15_000)])
  expect([late.code, early.code]).toEqual([0, 0])
  expect(late.atMs - signalledMs).toBeGreaterThan(3_900)
  expect(late.atMs - early.atMs).toBeGreaterThan(1_000)
})
