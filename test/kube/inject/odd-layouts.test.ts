import { expect, test } from 'vitest'
import { podIn } from './pods.js'
import { addedLines, deployment, inject, uninject } from './run.js'

const pod = (spec: string) => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:${spec}`

const BLOCK_LAYOUTS: Readonly<Record<string, string>> = {
  'anchors and a tag on lines of their own': pod('\n  &x\n  containers: &c\n  - &w\n    name: web\n    image: x\n'),
  'tags everywhere': pod(' !!map\n  containers: !!seq\n  - !!map\n    name: web\n    image: x\n'),
  'quoted keys and tabs behind colons': `"apiVersion": v1\n'kind': Pod\n"metadata":\t\n  name: a\n"spec" : \n  'containers':\n  - "name": web\t# c\n`,
  'directives and markers': `%YAML 1.1\n--- # c\n${pod('\n  containers:\n  - name: web\n')}...\n# end\n---\n---\n`,
  'dashes on lines of their own': pod(
    '\n  containers:\n  -\n    name: web\n  - # c\n    # d\n    image: y\n    name: w2\n',
  ),
  'comments at every place': pod(
    ' # s\n    # about containers\n\n    containers: # c\n\n    # first\n        - name: web # n\n          # env\n          env: # e\n          # x\n          - name: A\n            value: b\n  # after\n# end\n',
  ),
  'odd indentation': pod('\n     containers:\n           -   name: web\n               image: x\n'),
  'keys between nulls': pod('\n  initContainers:\n  volumes: # none\n  containers:\n  - name: web\n    env:\n'),
  'block scalars that keep their ends': pod(
    '\n  containers:\n  - args:\n    - |+\n      a\n\n    name: web\n    command:\n    - >+2\n        b\n\n\n',
  ),
  'no line break at the end': pod('\n  containers:\n  - name: web'),
  'an empty key at the very end': pod('\n  containers:\n  - name: web\n    env:'),
  'another empty key at the very end': pod('\n  containers:\n  - name: web\n  initContainers:'),
  'a label shared by an anchor': deployment()
    .replace('name: shop', 'labels: &l { app: shop }')
    .replace('    spec:', '    metadata:\n      labels: *l\n    spec:'),
  'names and images by alias': pod('\n  hostname: &n web\n  containers:\n  - args:\n    - a\n    name: *n\n'),
  'other scripts and pictures': pod('\n  hostname: "h"\n  containers:\n  - image: "日本語 🐈" # 🐈\n    name: web\n'),
  'variables that containers share': deployment('  env: &e\n  - name: X\n    value: "1"\n- name: b\n  env: *e\n'),
  'a container merged into another': deployment('- &c\n  name: b\n  image: x\n- <<: *c\n  name: c\n'),
}

test.for(Object.entries(BLOCK_LAYOUTS))('only lines are added to %s', async ([, text]) => {
  const { code, stdout, stderr } = await inject(text)
  expect(code, stderr).toBe(0)
  expect(addedLines(text, stdout).length).toBeGreaterThan(10)
  expect(podIn(stdout).spec.initContainers[0].name).toBe('forbear')
  expect((await inject(stdout)).stdout).toBe(stdout)
  expect((await uninject(stdout)).stdout).toBe(text)
})

const OTHER_LAYOUTS: Readonly<Record<string, string>> = {
  'a first entry of several lines': pod('\n  containers:\n  - name: >-\n      web\n'),
  'a pod on one line': pod(' {containers: [{name: web,},], volumes: [ ], initContainers: [\n {name: a},\n ],\n}\n'),
  'nulls in braces': pod(' {containers: [{name: web, env: }], volumes: null, initContainers: ~}\n'),
  'braces below a dash': pod('\n  containers:\n  - !!map {name: web}\n  - &b {name: b, env: &e []}\n'),
  'JSON with tabs': JSON.stringify({ kind: 'Pod', spec: { containers: [{ name: 'web', env: [] }] } }, null, '\t'),
  'JSON on one line': '{"kind":"Pod","spec":{"volumes":[],"containers":[{"name":"web"}]}}',
  'JSON with Windows line breaks': JSON.stringify(
    { kind: 'Pod', spec: { containers: [{ name: 'web' }] } },
    null,
    4,
  ).replaceAll('\n', '\r\n'),
  'JSON within YAML': pod(
    '\n  containers: [\n    {"name": "web", "env": [\n      {"name": "A", "value": "b"}\n    ]}\n  ]\n',
  ),
}

test.for(Object.entries(OTHER_LAYOUTS))('%s comes back as it was', async ([, text]) => {
  const { code, stdout, stderr } = await inject(text)
  expect(code, stderr).toBe(0)
  expect(podIn(stdout).spec.initContainers[0].name).toBe('forbear')
  expect((await inject(stdout)).stdout).toBe(stdout)
  expect((await uninject(stdout)).stdout).toBe(text)
})

test.for([
  [
    'explicit keys',
    pod('\n  ? initContainers\n  : - name: a\n  containers:\n  - name: b\n'),
    'leaves no place for what is to be added',
  ],
  [
    'a compact map behind an explicit key',
    'kind: Pod\n? spec\n: containers:\n  - name: a\n',
    'leaves no place for what is to be added',
  ],
  [
    'a key without a colon',
    pod(' {containers: [{name: web}], initContainers}\n'),
    'leaves no place for what is to be added',
  ],
  [
    'annotations shared with the Deployment',
    deployment()
      .replace('name: shop', 'annotations: &a { b: c }')
      .replace('    spec:', '    metadata:\n      annotations: *a\n    spec:'),
    'an anchor shares part of its pod',
  ],
  [
    'variables shared with a container that is left out',
    deployment('  env: &e\n  - { name: X, value: y }\n- name: b\n  env: *e\n', { 'skip-containers': 'b' }),
    'an anchor shares part of its pod',
  ],
  ['an alias that leads nowhere', pod('\n  containers: *nowhere\n'), 'nowhere'],
])('what cannot be edited in its text is refused, and never written anew: %s', async ([, text, reason]) => {
  const { code, stdout, stderr } = await inject(text as string)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(reason)
})

test('JSON of several objects in a row comes out as such', async () => {
  const objects = ['a', 'b'].map(name =>
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name }] } }, null, 2),
  )
  const text = `${objects.join('\n')}\n{"kind":"Service"}\n`
  const { stdout, stderr } = await inject(text)
  expect(stdout.match(/"name": "forbear"/g)).toHaveLength(2)
  expect(stderr).toMatch(/^a\.yaml:3: Pod a injected[^]*\na\.yaml:17: Pod b injected/)
  expect((await uninject(stdout)).stdout).toBe(text)
})
