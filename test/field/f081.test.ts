import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { attempts, calls, FILE, followed, POLL_MS } from '../e2e/harness/counted-policy.js'
import { whyNoNamespaces, withReadOnlyMount } from '../e2e/harness/namespaces.js'
import type { Sidecar } from '../e2e/harness/sidecar.js'
import { test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'

const why = whyNoNamespaces()
if (why !== null) console.warn(`F081 is skipped: ${why}`)

const URL = 'http://127.0.0.1:9'
const notice = (sidecar: Sidecar, part: RegExp) =>
  until(`a line like ${part}`, () => sidecar.logs.find(line => part.test(String(line['msg']))))

describe.skipIf(why !== null).concurrent('F081: at the start it is told whether an edit can ever arrive', () => {
  test('never to a file that is mounted alone (subPath), and what to do', async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const dir = await stage.policyDir({ [FILE]: '' })
    const mount = withReadOnlyMount(join(map.path, FILE), join(dir.path, FILE))
    const sidecar = await stage.sidecar(dir, [], { through: mount })
    const line = await notice(sidecar, /subPath/)
    expect(line['msg']).toBe(
      `${join(dir.path, FILE)}: mounted as a single file (subPath), so edits never arrive; mount the whole directory`,
    )
    expect(line['level']).toBe(40)
    await map.write({ [FILE]: calls(URL, 2) })
    await sidecar.admin('/reload', { method: 'POST' })
    expect(await attempts(sidecar)).toBe(1)
  })

  test('to a ConfigMap that is mounted as a whole, read-only, and it does', async ({ stage }) => {
    const map = await stage.configMapDir({ [FILE]: calls(URL, 1) })
    const dir = await stage.policyDir({})
    const sidecar = await stage.sidecar(dir, [], { through: withReadOnlyMount(map.path, dir.path) })
    expect(await notice(sidecar, /is a mounted ConfigMap/)).toMatchObject({ level: 30 })
    for (const expected of [2, 3, 2]) {
      await map.write({ [FILE]: calls(URL, expected) })
      await followed('the swap', sidecar, expected, POLL_MS)
    }
    expect(sidecar.errorLines()).toEqual([])
  })

  test('to a plain directory (an emptyDir), read-only to the sidecar alone, and it does', async ({ stage }) => {
    const dir = await stage.policyDir({ [FILE]: calls(URL, 1) })
    const point = await stage.policyDir({})
    const sidecar = await stage.sidecar(point, [], { through: withReadOnlyMount(dir.path, point.path) })
    expect(await notice(sidecar, /is a plain directory/)).toMatchObject({ level: 30 })
    await dir.replace(FILE, calls(URL, 2))
    await followed('the edit', sidecar, 2, POLL_MS)
  })

  test('to a directory beside a file that is mounted alone but is no policy', async ({ stage }) => {
    const dir = await stage.policyDir({ [FILE]: calls(URL, 1) })
    await writeFile(join(dir.path, 'ca.pem'), '')
    const mount = withReadOnlyMount('/dev/null', join(dir.path, 'ca.pem'))
    const sidecar = await stage.sidecar(dir, [], { through: mount })
    await notice(sidecar, /is a plain directory/)
    expect(sidecar.output).not.toContain('subPath')
  })
})
