import { expect, it } from 'vitest'
import { addedLines, deployment, inject } from '../kube/inject/run.js'
import { messagesOf, snapshotOf, upstream } from '../policy/set.js'

it.each([
  ['a value', upstream('timeouts: { total: {{ .Values.timeout }} }'), '6:22'],
  ['a quoted value', upstream('timeouts: { total: "{{ .Values.timeout }}" }'), '6:23'],
  ['a whole line', `{{- if .Values.on }}\n${upstream()}\n{{- end }}`, '1:1'],
])('F100: %s that is an unrendered template is one clear message', (_, text, place) => {
  const line = place.split(':')[0]
  expect(messagesOf(text)).toEqual([
    `a.yaml:${place}  looks like an unrendered template at line ${line}: render it first, for instance with helm template [FB012]`,
  ])
})

it('F100: a template in a comment is only a comment', () => {
  expect(snapshotOf(`# made from {{ .Chart.Name }}\n${upstream('propagate: true # {{ x }}')}`).upstreams.size).toBe(1)
})

it.each([
  ['a value', deployment().replace('name: shop', 'name: {{ .Values.name }}'), 4, 'helm template'],
  ['a quoted image', deployment().replace('registry.example/shop:1', '"{{ .Values.image }}"'), 11, 'helm template'],
  ['a label', deployment().replace('name: shop', 'labels: { app: "{{ app }}" }'), 4, 'Ansible'],
  ['a whole line', `{{- if .Values.on }}\n${deployment()}{{- end }}\n`, 1, 'helm template'],
  [
    'a block in another document',
    `${deployment()}---\ndata:\n  {{- toYaml .Values.data | nindent 2 }}\n`,
    14,
    'helm template',
  ],
  ['a block of Jinja', `{% if shop %}\n${deployment()}{% endif %}\n`, 1, 'Jinja'],
  ['a variable of a shell', deployment().replace('shop:1', `shop:${'$'}{TAG}`), 11, 'envsubst'],
  ['a comment of ytt', deployment().replace('name: web', 'name: #@ data.values.name'), 10, 'ytt'],
])('F100: inject refuses %s, with its line and the tool to run first', async (_, text, line, tool) => {
  const { code, stdout, stderr } = await inject(text)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`a.yaml:${line}: `)
  expect(stderr).toContain(`this looks like an unrendered template at line ${line}\n  run `)
  expect(stderr).toContain(tool)
})

it('F100: braces in what an app is to get are none', async () => {
  const text = `# {{ .Chart.Name }}
${deployment('  args: ["{{ .Level }}", "${X}"] # {{ x }}\n  env: [{ name: T, value: "{% if %}" }]\n')}---
kind: ConfigMap
data: { alert: "{{ $labels.instance }}", name: "{{ x }}" }
`
  const { code, stdout } = await inject(text)
  expect(code).toBe(0)
  addedLines(text, stdout.replace(/env: \[\{"name".*?\}, /, 'env: ['))
})
