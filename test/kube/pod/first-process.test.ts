/** The first process of a container: the kernel hands it no signal that it does not listen for. */
import { spawnSync } from 'node:child_process'
import { describe, expect } from 'vitest'
import { upstreamDoc } from '../../e2e/harness/policies.js'
import { test } from '../../e2e/harness/stage.js'

const FIRST = ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'] as const
const cannot = spawnSync(FIRST[0], [...FIRST.slice(1), 'true']).status !== 0
if (cannot) console.warn('skipped: the first process of a container: no PID namespaces here')

const PRELOAD = new URL('signal-at-start.mjs', import.meta.url).href

describe.skipIf(cannot)('as the first process', () => {
  test('SIGTERM that comes while it starts ends it', async ({ stage }) => {
    const launch = { through: [...FIRST, 'env', `NODE_OPTIONS=--import ${PRELOAD}`] }
    const sidecar = await stage.spawn([upstreamDoc('payments', 'http://payments.shop')], [], launch)
    // 143 where nobody has anything to end in good order yet.
    expect([0, 143]).toContain((await sidecar.exitWithin(20_000)).code)
  })
})
