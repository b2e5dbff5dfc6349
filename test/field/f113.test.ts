import { expect, it } from 'vitest'
import { podIn } from '../kube/inject/pods.js'
import { addedLines, deployment, inject } from '../kube/inject/run.js'

const text = deployment(`  resizePolicyOfTomorrow: { cpu: [yes, 1e3] }
initContainers:
- name: tailer
  # Always makes it a sidecar
  restartPolicy: Always
  someFutureField: keep-me
  startupProbe: { exec: { command: [true] } }
- name: migrate
  restartPolicyRules:
  - action: Restart
ephemeralContainers: []
fieldOfTomorrow:
  deep:
  - nested: ~
`)

it('F113: fields that no version knows, and native sidecars of the user, stay as they are written', async () => {
  const { stdout, code } = await inject(text)
  expect(code).toBe(0)
  addedLines(text, stdout)
  const before = podIn(text).spec
  const after = podIn(stdout).spec
  expect(after.initContainers.map(({ name }: { name: string }) => name)).toEqual(['forbear', 'tailer', 'migrate'])
  const strip = ({ env: _, ...rest }: Record<string, unknown>) => rest
  expect(after.initContainers.slice(1).map(strip)).toEqual(before.initContainers)
  expect(after.containers.map(strip)).toEqual(before.containers)
  expect([after.fieldOfTomorrow, after.ephemeralContainers]).toEqual([before.fieldOfTomorrow, []])
})
