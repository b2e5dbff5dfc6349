import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { podIn, sidecarIn } from '../kube/inject/pods.js'
import { addedLines, inject, uninject } from '../kube/inject/run.js'

const text = readFileSync(new URL('./fixtures/ff04-daemonset-hostnetwork.yaml', import.meta.url), 'utf8')

it('FF04: a DaemonSet on the network of the node is refused by name and line', async () => {
  const { code, stdout, stderr } = await inject(text)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^a\.yaml:40: DaemonSet ops\/node-agent: hostNetwork is true/)
})

it('FF04: allowed, it gets a sidecar that its pod accepts, and the container proxy is just another app', async () => {
  const { stdout } = await inject(text, '--allow-host-network')
  addedLines(text, stdout)
  expect(sidecarIn(stdout).securityContext).toMatchObject({ runAsNonRoot: true, readOnlyRootFilesystem: true })
  expect(podIn(stdout).spec.containers[1].env[0].name).toBe('FORBEAR_URL')
  expect(stdout).toContain('\n      initContainers:\n      - name: forbear\n')
  expect((await uninject(stdout)).stdout).toBe(text)
})
