import { expect, it } from 'vitest'
import { envOf, podIn } from '../kube/inject/pods.js'
import { deployment, inject } from '../kube/inject/run.js'

it('F122: containers called proxy or sidecar, an image called forbear and port 15001 keep nobody from it', async () => {
  const text = deployment(`  ports: [{ containerPort: 15001 }, { containerPort: 15080, protocol: UDP }]
- { name: proxy, image: envoy }
- { name: sidecar, image: "registry.example/forbear:1" }
- { name: forbear-sidecar, image: x, args: [run, --policies, /etc/forbear] }
`)
  const { code, stdout, stderr } = await inject(text)
  expect(code).toBe(0)
  expect(stderr).toContain('Deployment ops/shop injected: native sidecar forbear')
  expect(podIn(stdout).spec.containers).toHaveLength(4)
  expect(Object.keys(envOf(stdout, 'proxy'))).toEqual(['FORBEAR_URL'])
})

it.each([
  ['name', '- name: forbear\n', 'rename it'],
  ['port', '  ports: [{ containerPort: 15080 }]\n', 'let one of them listen elsewhere'],
  ['volume', 'volumes: [{ name: forbear-policies, emptyDir: {} }]\n', 'rename it and its mounts'],
  ['variable', '  env: [{ name: FORBEAR_URL, value: elsewhere }]\n', 'forbear.dev/skip-containers'],
  [
    'variable from a Secret',
    '  env: [{ name: FORBEAR_URL, valueFrom: { secretKeyRef: {} } }]\n',
    'forbear.dev/skip-containers',
  ],
])('F122: a clash of %s is an error with a suggestion, never a silent skip', async (_, spec, suggestion) => {
  const { code, stdout, stderr } = await inject(deployment(spec))
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('a.yaml:12: Deployment ops/shop: ')
  expect(stderr).toContain(suggestion)
})

it('F122: a label of its own keeps a workload out, be it at the template or above it', async () => {
  const label = 'labels: { forbear.dev/inject: "false" }'
  const above = deployment().replace('name: shop', `${label}\n  name: shop`)
  const at = deployment().replace('    spec:', `    metadata: { ${label} }\n    spec:`)
  for (const text of [above, at]) {
    const { code, stdout, stderr } = await inject(text)
    expect([code, stdout]).toEqual([0, text])
    expect(stderr).toContain('Deployment ops/shop skipped: its label forbear.dev/inject is "false"')
  }
})
