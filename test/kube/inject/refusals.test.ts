import { describe, expect, test } from 'vitest'
import { deployment, inject, job, run } from './run.js'

const pod = (spec: string) => `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n${spec}`

test.for([
  ['a container of the name', deployment('- name: forbear\n'), 'a.yaml:12', 'a container is called forbear already'],
  [
    'an init container of the name',
    deployment('initContainers: [{ name: forbear }]\n'),
    'a.yaml:12',
    'a container is called forbear',
  ],
  [
    'an ephemeral container of the name',
    pod('  containers: [{ name: a }]\n  ephemeralContainers: [{ name: forbear }]\n'),
    'a.yaml:6',
    'a container is called forbear',
  ],
  [
    'a volume of the name',
    deployment('volumes: [{ name: forbear-policies }]\n'),
    'a.yaml:12',
    'a volume is called forbear-policies already',
  ],
  [
    'a port of ours',
    deployment('  ports: [{ containerPort: 15081 }]\n'),
    'a.yaml:12',
    'the container web has port 15081, and forbear has its admin port there',
  ],
  [
    'a port of an upstream',
    deployment('  ports:\n  - containerPort: 9101\n', { upstreams: 'a=9101' }),
    'a.yaml:16',
    'forbear.dev/upstreams gives it to a',
  ],
  [
    'a port name of ours',
    deployment('  ports: [{ containerPort: 1, name: forbear-health }]\n'),
    'a.yaml:12',
    'calls a port forbear-health',
  ],
  [
    'a variable of ours',
    deployment('  env:\n  - name: FORBEAR_URL\n    value: http://payments\n'),
    'a.yaml:13',
    'the container web sets FORBEAR_URL itself',
  ],
  ['two containers of one name', deployment('- name: web\n'), 'a.yaml:12', 'two containers are called web'],
  [
    'a claim template of the name',
    deployment()
      .replace('Deployment', 'StatefulSet')
      .replace('  template:', '  volumeClaimTemplates: [{ metadata: { name: forbear-policies } }]\n  template:'),
    'a.yaml:9',
    'a volume claim template is called forbear-policies',
  ],
  [
    'the mirror of a static pod',
    'kind: Pod\nmetadata: { name: a, annotations: { kubernetes.io/config.mirror: x } }\nspec: { containers: [{ name: a }] }\n',
    'a.yaml:2',
    'it mirrors a static pod',
  ],
  ['the network of the node', deployment('hostNetwork: true\n'), 'a.yaml:12', 'hostNetwork is true'],
  ['a pod of Windows', deployment('os: { name: windows }\n'), 'a.yaml:12', 'the pod runs on Windows'],
  [
    'nodes of Windows',
    deployment('nodeSelector:\n  kubernetes.io/os: windows\n'),
    'a.yaml:13',
    'the pod runs on Windows',
  ],
  [
    'a restart policy that a Deployment cannot have',
    deployment('restartPolicy: Never\n'),
    'a.yaml:12',
    'a Deployment cannot have restartPolicy "Never"',
  ],
  [
    'a restart policy that a Job cannot have',
    job().replace('Never', 'Always'),
    'a.yaml:12',
    'a Job cannot have restartPolicy "Always"',
  ],
  [
    'a restart policy that there is not',
    pod('  containers: [{ name: a }]\n  restartPolicy: Sometimes\n'),
    'a.yaml:6',
    'a Pod cannot have restartPolicy "Sometimes"',
  ],
  ['no containers', pod('  containers: []\n'), 'a.yaml:5', 'containers is not a list with something in it'],
  ['containers that are a map', pod('  containers: { web: {} }\n'), 'a.yaml:5', 'containers is not a list'],
  ['a container without a name', pod('  containers: [{ image: a }]\n'), 'a.yaml:5', 'this item has no name'],
  [
    'a pod without a spec',
    'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n',
    'a.yaml:2',
    'it has no spec that is a map',
  ],
  [
    'annotations that are a list',
    'kind: Pod\nmetadata: { name: a, annotations: [] }\nspec: { containers: [{ name: a }] }\n',
    'a.yaml:2',
    'annotations is no map',
  ],
  [
    'another word in the label',
    'kind: Pod\nmetadata: { name: a, labels: { forbear.dev/inject: "off" } }\nspec: { containers: [{ name: a }] }\n',
    'a.yaml:2',
    'the label forbear.dev/inject is "off"',
  ],
  [
    'a pod by alias',
    'x: &p { containers: [{ name: a }] }\nkind: Pod\nmetadata: { name: a }\nspec: *p\n',
    'a.yaml:4',
    'its pod is reached through an alias',
  ],
  [
    'a pod by merge key',
    'x: &p { spec: { containers: [{ name: a }] } }\nkind: Pod\nmetadata: { name: a }\n<<: *p\n',
    'a.yaml:1',
    'its pod is reached through a merge key',
  ],
  [
    'containers by merge key',
    'x: &p { containers: [{ name: a }] }\nkind: Pod\nmetadata: { name: a }\nspec:\n  <<: *p\n',
    'a.yaml:2',
    'an anchor shares part of its pod',
  ],
  ['something that is no YAML', 'kind: Pod\nmetadata:\n  name: a\n b: c\n', 'a.yaml:4', 'Pod a: it cannot be read'],
  [
    'a key that stands twice',
    pod('  containers: [{ name: a }]\n  containers: []\n'),
    'a.yaml:6',
    'Map keys must be unique',
  ],
] as const)('refused with its place and nothing on stdout: %s', async ([, text, place, reason]) => {
  const { code, stdout, stderr } = await inject(text)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr.startsWith(`${place}: `), stderr).toBe(true)
  expect(stderr).toContain(reason)
  expect(stderr.split('\n')).toEqual([expect.any(String), expect.stringMatching(/^ {2}\S/), 'nothing was written', ''])
})

describe('an annotation that cannot be followed is refused with what to write', () => {
  test.for([
    [{ upstreams: 'payments=0' }, '"payments=0" has no port', 'such as payments=9101'],
    [{ upstreams: 'Pay ments' }, '"Pay" names no upstream', 'payments=9101,ledger'],
    [{ upstreams: 'a=15080' }, 'takes a port that forbear itself listens on', 'choose another'],
    [{ upstreams: 'a=1,b=1' }, 'a and b both want port 1', 'give each its own'],
    [{ upstreams: 'a,a=3' }, 'a is named twice', 'name it once'],
    [{ upstreams: 'forbear' }, 'FORBEAR_URL', 'another name'],
    [{ native: 'maybe' }, '"maybe" is none of its words', 'auto or true or false'],
    [{ 'http-proxy': 'yes' }, '"yes" is none of its words', 'true or false'],
    [{ 'memory-limit': 'lots' }, '"lots" is no quantity', '256Mi'],
    [{ 'memory-request': '1Gi' }, 'the request 1Gi is above the limit 256Mi', 'memory-limit to at least 1Gi'],
    [{ 'skip-containers': 'wbe' }, 'there is no container wbe', 'did you mean web?'],
    [{ 'policy-configmap': 'No Such' }, '"No Such" cannot be the name of a ConfigMap', 'write the name'],
    [{ image: '' }, '"" cannot be an image', 'registry.example.com/forbear:1'],
  ] as const)('%j', async ([annotations, reason, suggestion]) => {
    const { code, stdout, stderr } = await inject(deployment('', annotations))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(reason)
    expect(stderr).toContain(suggestion)
    expect(stderr).toMatch(/^a\.yaml:10: Deployment ops\/shop: /)
  })

  test('one that is no text', async () => {
    const text = deployment('', { optional: 'true' }).replace('"true"', 'true')
    expect((await inject(text)).stderr).toContain('an annotation is text, and this is true')
  })

  test('one that is misspelt is told', async () => {
    const { code, stderr } = await inject(deployment('', { upstream: 'payments' }))
    expect(code).toBe(0)
    expect(stderr).toContain('the annotation forbear.dev/upstream means nothing; did you mean forbear.dev/upstreams?')
  })
})

test('every problem of every object is told at once, and then nothing is written of the others either', async () => {
  const good = deployment()
  const { code, stdout, stderr } = await run(
    ['inject'],
    `${good}---\n${deployment('hostNetwork: true\nvolumes: [{ name: forbear-policies }]\n')}`,
    deployment('- name: forbear\n'),
  )
  expect([code, stdout]).toEqual([1, ''])
  expect(
    stderr
      .split('\n')
      .filter(line => /^[ab]\.yaml:/.test(line))
      .map(line => line.slice(0, 40)),
  ).toEqual([
    'a.yaml:24: Deployment ops/shop: hostNetw',
    'a.yaml:25: Deployment ops/shop: a volume',
    'b.yaml:12: Deployment ops/shop: a contai',
  ])
})

test('native sidecars asked of a cluster that has none are refused: half of them would hang the pod', async () => {
  const { code, stderr } = await inject(deployment(), '--native=true', '--kube-version', '1.28')
  expect(code).toBe(1)
  expect(stderr).toContain('native sidecars need Kubernetes 1.29, and the cluster is 1.28')
})

test.for([
  [['--kube-version', 'new'], 'write a version such as 1.29'],
  [['--native', 'maybe'], 'Allowed choices are auto, true, false'],
])('a flag that means nothing is a usage error: %j', async ([words, message]) => {
  await expect(inject(deployment(), ...(words as string[]))).rejects.toThrow(message as string)
})

test('a file that is not there, is a directory or is no UTF-8 exits 2 and writes nothing', async () => {
  const { code, stdout, stderr } = await run(['inject', '/nowhere.yaml', '/tmp'], deployment())
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/\/nowhere\.yaml: there is no such file\nforbear: \/tmp: this is a directory/)
})
