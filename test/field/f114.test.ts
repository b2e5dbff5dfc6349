import { expect, it } from 'vitest'
import { type Loose, podIn } from '../kube/inject/pods.js'
import { deployment, inject, job } from '../kube/inject/run.js'

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  containers:\n  - name: web\n'
const names = (list: Loose[] = []) => list.map(({ name }) => name)

it.each([
  ['a Deployment', deployment(), [], ['forbear'], ['web']],
  ['a Job', job(), [], ['forbear'], ['web']],
  ['a Pod', pod, [], ['forbear'], ['web']],
  ['a Deployment in the classic form', deployment(), ['--native=false'], [], ['forbear', 'web']],
  ['a Pod in the classic form', pod, ['--native=false'], [], ['forbear', 'web']],
  ['a Job in the classic form', job(), ['--native=false', '--quit-endpoint'], [], ['forbear', 'web']],
])('F114: %s has restartPolicy on init containers only', async (_, text, words, init, ordinary) => {
  const { spec } = podIn((await inject(text, ...words)).stdout)
  expect([names(spec.initContainers), names(spec.containers)]).toEqual([init, ordinary])
  expect((spec.initContainers ?? []).map((one: Loose) => one.restartPolicy)).toEqual(init.map(() => 'Always'))
  expect(spec.containers.some((one: Loose) => 'restartPolicy' in one)).toBe(false)
  expect(spec.restartPolicy).toBe(podIn(text).spec.restartPolicy)
})
