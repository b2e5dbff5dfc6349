import { expect, it } from 'vitest'
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
