import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Loose, podIn } from '../kube/inject/pods.js'
import { addedLines, inject, uninject } from '../kube/inject/run.js'

const text = readFileSync(new URL('./fixtures/ff02-statefulset-init-scripts.yaml', import.meta.url), 'utf8')

it('FF02: scripts in init containers, octal modes and claim templates stay; the sidecar comes before those who call', async () => {
  const { stdout, stderr } = await inject(text)
  addedLines(text, stdout)
  const { initContainers, containers } = podIn(stdout).spec
  expect(initContainers.map(({ name }: Loose) => name)).toEqual(['forbear', 'pick-role', 'fetch-snapshot'])
  expect(initContainers[1].command).toEqual(podIn(text).spec.initContainers[0].command)
  for (const container of [...initContainers.slice(1), ...containers]) {
    expect(container.env[0]).toEqual({ name: 'FORBEAR_URL', value: 'http://127.0.0.1:15080' })
    expect((container.volumeMounts ?? []).map(({ name }: Loose) => name)).not.toContain('forbear-policies')
  }
  expect(stderr).toContain('env FORBEAR_URL in ledger; env FORBEAR_URL in backup')
  expect((await uninject(stdout)).stdout).toBe(text)
})
