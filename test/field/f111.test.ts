import { expect, it } from 'vitest'
import { podIn } from '../kube/inject/pods.js'
import { inject, job } from '../kube/inject/run.js'

const cronJob = `apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly }
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
          - name: export
`
const bare = `apiVersion: v1
kind: Pod
metadata: { name: once }
spec:
  restartPolicy: Never
  containers:
  - name: export
`

it('F111: a Job gets a native sidecar, which ends with it, and never a container that runs on', async () => {
  const { spec } = podIn((await inject(job())).stdout)
  expect(spec.initContainers).toEqual([expect.objectContaining({ name: 'forbear', restartPolicy: 'Always' })])
  expect([spec.containers.length, spec.restartPolicy]).toEqual([1, 'Never'])
})

it('F111: a CronJob whose template has no metadata gets one, and a native sidecar', async () => {
  const { stdout } = await inject(cronJob)
  expect(stdout).toContain('        metadata:\n          annotations:\n')
  expect(stdout).toContain('          initContainers:\n          - name: forbear\n')
})

it.each([
  ['a Job', job(), 'Job ops/shop', 'a Job never completes'],
  ['a Job without restartPolicy', job().replace('restartPolicy: Never', ''), 'Job ops/shop', 'a Job never completes'],
  ['a CronJob', cronJob, 'CronJob nightly', 'a CronJob never completes'],
  ['a pod that is to end', bare, 'Pod once', 'a pod that is to end never completes'],
])('F111: %s in the classic form is refused, and the way out is told', async (_, text, title, reason) => {
  for (const words of [['--kube-version', '1.27'], ['--native=false']]) {
    const { code, stdout, stderr } = await inject(text, ...words)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`${title}: `)
    expect(stderr).toContain(reason)
    expect(stderr).toContain('--quit-endpoint')
  }
})
