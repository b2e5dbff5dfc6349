import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Loose, podIn } from '../kube/inject/pods.js'
import { addedLines, inject, uninject } from '../kube/inject/run.js'

const text = readFileSync(new URL('./fixtures/ff03-job-with-own-native-sidecar.yaml', import.meta.url), 'utf8')

it('FF03: a Job that has a native sidecar of its own gets ours in front of it, in the same layout', async () => {
  const { stdout } = await inject(text)
  const added = addedLines(text, stdout)
  const { initContainers, containers, restartPolicy } = podIn(stdout).spec
  expect(initContainers.map((one: Loose) => [one.name, one.restartPolicy])).toEqual([
    ['forbear', 'Always'],
    ['tailer', 'Always'],
  ])
  expect([containers.length, restartPolicy, initContainers[1].someFutureField]).toEqual([1, 'Never', 'keep-me'])
  expect(added).toContain('        - name: forbear')
  expect(added).toContain('            - name: FORBEAR_URL')
  expect((await uninject(stdout)).stdout).toBe(text)
})
