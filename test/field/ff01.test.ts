import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { addedLines, inject, uninject } from '../kube/inject/run.js'

const text = readFileSync(new URL('./fixtures/ff01-multi-doc-comments.yaml', import.meta.url), 'utf8')

it('FF01: of a stream with a Service, a Deployment, comments and a ConfigMap only the Deployment gains lines', async () => {
  const { stdout, stderr } = await inject(text)
  const added = addedLines(text, stdout)
  expect(added.filter(line => !line.startsWith('      '))).toEqual([])
  expect(stderr).toBe(
    'a.yaml:16: Deployment shop-web injected: native sidecar forbear (Kubernetes 1.29 or later); volume forbear-policies of ConfigMap forbear-policies; env FORBEAR_URL in web\n',
  )
  expect(stdout).toContain(`        env:
        - name: FORBEAR_URL
          value: http://127.0.0.1:15080
        - name: LOOKUP_MODE
          value: dns
          # Clusters without DNS: comment the line above
`)
  expect(stdout.endsWith(text.slice(text.indexOf('# a document with nothing')))).toBe(true)
  expect((await uninject(stdout)).stdout).toBe(text)
})
