import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { climbInjected } from '../support/ladder/injection.js'
import { kubectls } from '../support/tools.js'

const pod = (restart: string): string => `
      metadata: { labels: { app: shop } }   # of the pod
      spec:
        restartPolicy: ${restart}
        initContainers:
          - { name: migrate, image: "example.com/shop:1" }
          - { name: own-proxy, image: "example.com/proxy:1", restartPolicy: Always }
        containers:
          - name: shop
            image: example.com/shop:1
            env:
              - { name: ANSWER, value: "no" }
          - name: empty
            image: example.com/empty:1
            resources: {}
        volumes:
          - { name: scripts, configMap: { name: scripts, defaultMode: 0755 } }`
const bare = pod('Always').replaceAll('\n    ', '\n')

const KINDS: Record<string, string> = {
  Pod: `apiVersion: v1\nkind: Pod${bare.replace('metadata: {', 'metadata: { name: shop,').replaceAll('\n  ', '\n')}\n`,
  Deployment: workload('apps/v1', 'Deployment', '  selector: { matchLabels: { app: shop } }', pod('Always')),
  StatefulSet: workload(
    'apps/v1',
    'StatefulSet',
    '  serviceName: shop\n  selector: { matchLabels: { app: shop } }',
    pod('Always'),
  ),
  DaemonSet: workload('apps/v1', 'DaemonSet', '  selector: { matchLabels: { app: shop } }', pod('Always')),
  ReplicaSet: workload('apps/v1', 'ReplicaSet', '  selector: { matchLabels: { app: shop } }', pod('Always')),
  ReplicationController: workload('v1', 'ReplicationController', '  selector: { app: shop }', pod('Always')),
  Job: workload('batch/v1', 'Job', '  backoffLimit: 1', pod('Never')),
  CronJob: `apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: shop }\nspec:\n  schedule: "* * * * *"\n  jobTemplate:\n    spec:\n      template:${pod('OnFailure').replaceAll('\n', '\n  ')}\n`,
}

function workload(apiVersion: string, kind: string, spec: string, template: string): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: shop }\nspec:\n${spec}\n  template:${template}\n`
}

const OPTIONS = { image: 'registry.example.com/forbear:1', upstreams: 'payments=9101,ledger', httpProxy: true }
const FORMS = [
  { form: 'native', options: { ...OPTIONS, kubeVersion: '1.29' } },
  { form: 'classic', options: { ...OPTIONS, kubeVersion: '1.28', quitEndpoint: true } },
]

describe.each(FORMS)('a pod with a $form sidecar', ({ options }) => {
  const names = Object.keys(KINDS)

  it('can be applied in every kind, also after a second injection, and loses it again', () => {
    expect(climbInjected(Object.values(KINDS).join('---\n'), options)).toEqual([])
  })

  it.each(names)('can be applied as the only document: %s', kind => {
    expect(climbInjected(KINDS[kind] ?? '', options, [])).toEqual([])
  })

  it('can be applied in a list, and from JSON', () => {
    const items = Object.values(KINDS).map(manifest => `- ${manifest.replaceAll('\n', '\n  ').trimEnd()}\n`)
    expect(climbInjected(`apiVersion: v1\nkind: List\nitems:\n${items.join('')}`, options, [])).toEqual([])
    const json = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    }
    expect(climbInjected(JSON.stringify(json, null, 2), options, [])).toEqual([])
  })
})

it('what came up in the field can be applied', () => {
  const names = [
    'ff01-multi-doc-comments',
    'ff02-statefulset-init-scripts',
    'ff03-job-with-own-native-sidecar',
    'ff04-daemonset-hostnetwork',
  ]
  const manifests = names.map(name => readFileSync(`test/field/fixtures/${name}.yaml`, 'utf8'))
  // Stays as written (test/field/f113.test.ts), and no API knows it yet.
  const known = manifests.join('\n---\n').replace(/.*someFutureField.*\n/, '')
  expect(climbInjected(known, { ...OPTIONS, kubeVersion: '1.29', allowHostNetwork: true })).toEqual([])
})

it('a classic sidecar is kept whole also by the types of clusters that do not know the native form', context => {
  const old = kubectls().filter(({ minor }) => minor < 29)
  if (old.length === 0) return context.skip('kubectl before 1.29: not found')
  const manifest = Object.values(KINDS)
    .join('---\n')
    .replaceAll(/ +- \{ name: own-proxy.*\n/g, '')
  expect(manifest).not.toContain('Always }')
  expect(climbInjected(manifest, { ...OPTIONS, kubeVersion: '1.28', quitEndpoint: true }, old)).toEqual([])
})

it('a template without metadata gets what it needs', () => {
  const manifest =
    KINDS['Job']?.replace('metadata: { labels: { app: shop } }   # of the pod', '').replace(/\n +\n/, '\n') ?? ''
  expect(manifest).not.toContain('labels')
  expect(climbInjected(manifest, { ...OPTIONS, kubeVersion: '1.29' }, [])).toEqual([])
})
