import { describe, expect, test } from 'vitest'
import { inject as injectPod } from '../../../src/kube/inject/inject.js'
import { uninject as uninjectPod } from '../../../src/kube/inject/uninject.js'
import { envOf } from './pods.js'
import { deployment, inject } from './run.js'

test.for([
  ['livenessProbe:\n    httpGet: { path: /, port: 15082 }', 'asks port 15082, and forbear answers probes there'],
  ['startupProbe:\n    tcpSocket: { port: 15080 }', 'asks port 15080, and forbear listens there for the app'],
  ['readinessProbe:\n    grpc: { port: 9101 }', 'asks port 9101, and forbear.dev/upstreams gives it to a'],
  ['ports:\n  - containerPort: "15081"', 'has port 15081, and forbear has its admin port there'],
] as const)('a port of the app that is told by %j is one that forbear cannot have', async ([lines, reason]) => {
  const { code, stdout, stderr } = await inject(deployment(`  ${lines}\n`, { upstreams: 'a=9101' }))
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^a\.yaml:16: /)
  expect(stderr).toContain(reason)
})

test('a probe of another host, of a named port and of a free one is nobody else’s concern', async () => {
  const probes = [
    '  livenessProbe: { httpGet: { port: 15082, host: 10.0.0.1 } }',
    '  readinessProbe: { httpGet: { port: web } }',
    '  startupProbe: { tcpSocket: { port: 8080 } }',
  ]
  expect((await inject(deployment(`${probes.join('\n')}\n`))).code).toBe(0)
})

test.for([
  ['hostNetwork: yes', 'hostNetwork is true'],
  ['nodeSelector: { beta.kubernetes.io/os: windows }', 'the pod runs on Windows'],
] as const)('the node is recognised by %s, under another version of YAML, too', async ([line, reason]) => {
  const { code, stdout, stderr } = await inject(`%YAML 1.2\n---\n${deployment(`${line}\n`)}`)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(reason)
})

test('a name that YAML reads as something else is told as what it is read', async () => {
  const { code, stderr } = await inject(deployment('- name: y\n'))
  expect(code).toBe(1)
  expect(stderr).toContain('a.yaml:12: Deployment ops/shop: this name is read as true\n  put it into quotes')
})

describe('an image that some tool was to fill in is told as such', () => {
  test.for([
    'shop:$TAG',
    '((image))',
    '[[ .Image ]]',
    '"#{Image}"',
    '#{Image}#',
    '"shop:@project.version@"',
    'shop:%TAG%',
    '<image>',
  ])('%s', async image => {
    const { code, stdout, stderr } = await inject(deployment().replace('registry.example/shop:1', image))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('a.yaml:11: Deployment ops/shop: this looks like an unrendered template')
  })

  test('but not one with a digest, nor text for the app', async () => {
    const text = deployment('  args: ["$HOME", "((x))", "<a>", "%X%"]\n').replace('shop:1', 'shop:1@sha256:ab')
    expect((await inject(text)).code).toBe(0)
  })
})

test('no variable begins with a digit, for no shell could name it', async () => {
  const { stdout } = await inject(deployment('', { upstreams: '3scale=9101' }))
  expect(envOf(stdout, 'web')).toMatchObject({ _3SCALE_URL: 'http://127.0.0.1:9101' })
})

test('beside a proxy of its own a container gets no exceptions from it', async () => {
  const text = deployment('  env: [{ name: HTTP_PROXY, value: "http://theirs" }]\n')
  expect(Object.keys(envOf((await inject(text, '--http-proxy')).stdout, 'web'))).toEqual(['FORBEAR_URL', 'HTTP_PROXY'])
})

describe('a note tells', () => {
  const alike = '{ cpu: 1, memory: 1Gi }'
  const notes = async (spec: string, annotations = {}) => (await inject(deployment(spec, annotations))).stderr

  test('that variables from a ConfigMap of theirs would lose', async () => {
    const spec = '  envFrom: [{ configMapRef: { name: c } }]\n'
    expect(await notes(spec, { upstreams: 'payments' })).toContain('note: web has envFrom: should it set PAYMENTS_URL')
    expect(await notes(spec)).not.toContain('note:')
  })

  test('that a pod is no longer Guaranteed, unless forbear is given limits that are its requests', async () => {
    const spec = `  resources: { limits: ${alike}, requests: { cpu: 1000m } }\n`
    expect(await notes(spec)).toContain('note: the QoS class of the pod was Guaranteed and becomes Burstable')
    const own = { 'cpu-request': '0.1', 'cpu-limit': '100m', 'memory-request': '256Mi' }
    expect(await notes(spec, own)).not.toContain('QoS')
    expect(await notes(`  resources: { limits: { cpu: 1 } }\n`)).not.toContain('QoS')
  })

  test('that resources of the pod as a whole have to hold those of forbear', async () => {
    expect(await notes(`resources: { limits: ${alike} }\n`)).toContain('note: spec.resources is for the whole pod')
  })

  test('that something made the object, and will make it again as it was', async () => {
    const owner = 'ownerReferences: [{ kind: Deployment, name: shop, controller: true }]'
    const text = deployment()
      .replace('kind: Deployment', 'kind: ReplicaSet')
      .replace('name: shop', `name: shop-1\n  ${owner}`)
    const { code, stderr } = await inject(text)
    expect(code).toBe(0)
    expect(stderr).toContain('note: Deployment shop made it, and makes the next one without forbear')
  })
})

test('a pod of twenty thousand containers is none that takes minutes', () => {
  const containers = Array.from({ length: 20_000 }, (_, index) => ({ name: `c${index}` }))
  const { podSpec, meta, report } = injectPod({ containers }, {}, { image: 'forbear:1' })
  expect(report.problems).toEqual([])
  expect(uninjectPod(podSpec, meta)).toMatchObject({ podSpec: { containers }, meta: {} })
})
