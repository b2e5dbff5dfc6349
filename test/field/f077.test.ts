import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { calls, FILE, followed, POLL_MS } from '../e2e/harness/counted-policy.js'
import { whyNoNamespaces, withoutInotify } from '../e2e/harness/namespaces.js'
import { temporary } from '../e2e/harness/policies.js'
import { type Stage, test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'

const URL = 'http://127.0.0.1:9'

/** Two edits, one after the other; whether it is the events that find them is for test/policy/watcher-layouts.test.ts. */
async function follows(
  stage: Stage,
  dir: string,
  edit: (text: string) => Promise<unknown>,
  within?: readonly string[],
) {
  await edit(calls(URL, 1))
  const sidecar = await stage.sidecar({ path: dir }, [], { through: within ?? [] })
  for (const expected of [2, 3]) {
    await edit(calls(URL, expected))
    await followed(`edit ${expected}`, sidecar, expected, POLL_MS)
  }
  expect(sidecar.errorLines()).toEqual([])
  return sidecar
}

describe.concurrent('F077: an edit is in force soon after', () => {
  test.for(['disk', 'memory'])('the swap of a ConfigMap on %s', async (where, { stage, skip }) => {
    if (where === 'memory' && !existsSync('/dev/shm')) skip('no /dev/shm on this host')
    const map = await stage.configMapDir({}, where === 'memory' ? '/dev/shm' : tmpdir())
    await follows(stage, map.path, text => map.write({ [FILE]: text }))
  })

  test('the writing of a plain file', async ({ stage }) => {
    const dir = await stage.policyDir({})
    await follows(stage, dir.path, text => dir.write(FILE, text))
  })

  test('the writing of a file that is linked to', async ({ stage }) => {
    const [dir, elsewhere] = [await stage.policyDir({}), await stage.policyDir({})]
    await symlink(join(elsewhere.path, FILE), join(dir.path, FILE))
    await follows(stage, dir.path, text => elsewhere.write(FILE, text))
  })

  test('the swap of a ConfigMap behind a linked directory', async ({ stage }) => {
    const map = await stage.configMapDir({})
    const beside = await temporary()
    await symlink(map.path, join(beside, 'policies'))
    await follows(stage, join(beside, 'policies'), text => map.write({ [FILE]: text }))
  })

  test.for([
    ['instances', 'EMFILE'],
    ['watches', 'ENOSPC'],
  ] as const)(
    'a swap where no inotify %s are left: the poll finds it, which is told once',
    { timeout: 60_000 },
    async ([what, code], { stage, skip }) => {
      const why = whyNoNamespaces()
      if (why !== null) skip(why)
      const map = await stage.configMapDir({})
      const sidecar = await follows(stage, map.path, text => map.write({ [FILE]: text }), withoutInotify(what))
      const told = () => sidecar.logs.filter(line => /no file events/.test(String(line['msg'])))
      await until('it is told', () => told().length > 0)
      expect(told()).toHaveLength(1)
      expect(told()[0]).toMatchObject({
        level: 40,
        msg: expect.stringContaining(`(${code}): the policies are polled every 5 s`),
      })
    },
  )
})
