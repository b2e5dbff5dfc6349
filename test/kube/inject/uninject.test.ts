import { expect, test } from 'vitest'
import { envOf, podIn } from './pods.js'
import { deployment, inject, job, run, uninject } from './run.js'

test('what was written into an injected manifest since is kept', async () => {
  const edited = (await inject(deployment())).stdout
    .replace('      volumes:\n', '      - name: migrate # mine\n        image: x\n      volumes:\n')
    .replace(
      'value: http://127.0.0.1:15080\n',
      'value: http://127.0.0.1:15080\n        - name: MINE\n          value: "1"\n',
    )
  const { stdout, stderr } = await uninject(edited)
  expect(podIn(stdout).spec).toEqual({
    initContainers: [{ name: 'migrate', image: 'x' }],
    containers: [{ name: 'web', image: 'registry.example/shop:1', env: [{ name: 'MINE', value: '1' }] }],
  })
  expect(stdout).toContain('- name: migrate # mine\n')
  expect(stderr).toContain('Deployment ops/shop uninjected: forbear from spec.initContainers; forbear-policies from')
})

test('what has gone already is not missed', async () => {
  const { stdout } = await inject(deployment())
  const edited = stdout.replace(/ {6}volumes:\n.*\n.*\n.*\n/, '')
  expect(edited).not.toContain('volumes:')
  expect((await uninject(edited)).stdout).toBe(deployment())
})

test('a sidecar that was written by hand stays, and so does everything without the annotation', async () => {
  const text = deployment('- name: forbear\nvolumes: [{ name: forbear-policies }]\n')
  const { code, stdout, stderr } = await uninject(text)
  expect([code, stdout]).toEqual([0, text])
  expect(stderr).toContain('Deployment ops/shop unchanged')
})

test('an annotation that inject did not write is refused', async () => {
  for (const word of ['yes', '{}', '{"v":2}', '{"v":1,"form":"native","added":[{"in":"spec","names":[1]}]}']) {
    const text = deployment('', { injected: word })
    for (const { code, stdout, stderr } of [await uninject(text), await inject(text)]) {
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain('a.yaml:10: Deployment ops/shop: this is not what forbear inject wrote')
    }
  }
})

test('defaults that a server filled in do not count as a change, a missing variable does', async () => {
  const { stdout } = await inject(deployment())
  const served = stdout.replace(
    '        restartPolicy: Always\n',
    '        restartPolicy: Always\n        imagePullPolicy: IfNotPresent\n',
  )
  expect((await inject(served)).stdout).toBe(served)
  const grown = served.replace('      containers:\n', '      containers:\n      - name: added-since\n')
  const again = (await inject(grown)).stdout
  expect(envOf(again, 'added-since').FORBEAR_URL).toBe('http://127.0.0.1:15080')
  expect(podIn(again).spec.initContainers).toHaveLength(1)
})

test('several files become one stream, and a file alone stays the file that it was', async () => {
  const { stdout } = await run(['inject'], deployment().trimEnd(), `---\n${job()}`, '\ufeffkind: Service\n')
  expect(stdout.match(/^---$/gm)).toHaveLength(2)
  expect(stdout.match(/^kind: .*$/gm)).toEqual(['kind: Deployment', 'kind: Job', 'kind: Service'])
  expect((await uninject(stdout)).stdout).toBe(`${deployment()}---\n${job()}---\nkind: Service\n`)
})

test('objects of other kinds stay, and those with a pod template are named', async () => {
  const text = deployment().replace('apps/v1', 'argoproj.io/v1alpha1').replace('Deployment', 'Rollout')
  const { code, stdout, stderr } = await inject(text)
  expect([code, stdout]).toEqual([0, text])
  expect(stderr).toBe(
    'Rollout ops/shop is left as it is: not one of the kinds that can be changed\nthere is no workload in it: nothing was changed\n',
  )
  const namesake = job().replace('batch/v1', 'batch.volcano.sh/v1alpha1')
  expect((await inject(namesake)).stdout).toBe(namesake)
})

test('lists are walked, of one kind and of several, and items without a kind take that of their list', async () => {
  const pods =
    '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c"}]}}]}'
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${pods}\n- kind: ConfigMap\n`
  const { stdout, stderr } = await inject(list)
  expect(stderr).toContain('Pod b injected')
  expect(stdout).toContain('{"name": "forbear"')
  expect((await uninject(stdout)).stdout).toBe(list)
})
