import { expect, it } from 'vitest'
import { envOf, type Loose, podIn } from '../kube/inject/pods.js'
import { addedLines, deployment, inject, uninject } from '../kube/inject/run.js'

const text = deployment(
  `initContainers:
- name: fetch
  command: [sh, -c, "wget $FORBEAR_URL"]
- command:
  - |+
    # not a comment
    migrate "$PAYMENTS_URL"

  name: migrate
volumes: []
`,
  { upstreams: 'payments=9101' },
)

const order = (stdout: string) => podIn(stdout).spec.initContainers.map(({ name }: Loose) => name)

it('F116: the sidecar is the first init container, and those behind it are told of it', async () => {
  const { stdout } = await inject(text)
  expect(order(stdout)).toEqual(['forbear', 'fetch', 'migrate'])
  for (const name of ['fetch', 'migrate', 'web']) expect(envOf(stdout, name).PAYMENTS_URL).toBe('http://127.0.0.1:9101')
  addedLines(text, stdout.replace(/volumes: .*/, 'volumes: []'))
})

it('F116: it can be the last, by flag and by annotation, and is taken out again from there', async () => {
  const byFlag = (await inject(text, '--position', 'last')).stdout
  expect(order(byFlag)).toEqual(['fetch', 'migrate', 'forbear'])
  expect((await uninject(byFlag)).stdout).toBe(text)
  const annotated = text.replace('forbear.dev/upstreams', 'forbear.dev/position: last\n        forbear.dev/upstreams')
  expect(order((await inject(annotated)).stdout)).toEqual(['fetch', 'migrate', 'forbear'])
})
