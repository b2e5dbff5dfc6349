import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { calledWebhooks } from '../support/called-webhooks.js'
import { againstCertManager } from '../support/cert-manager.js'
import { climb } from '../support/ladder/ladder.js'
import { type Fields, fields, type KubeObject, list, objectsOf, templateOf, text } from '../support/ladder/objects.js'
import { againstRestricted } from '../support/restricted.js'
import { type LabelSelector, selects } from '../support/selector.js'
import { HOW_TO_GET, kubectls, runTool } from '../support/tools.js'

const files = ['namespace', 'server', 'webhooks'].map(name => readFileSync(`deploy/webhook/base/${name}.yaml`, 'utf8'))
const objects = objectsOf(files.join('\n---\n'))
const ofKind = (kind: string): KubeObject => objects.find(object => object.kind === kind) as KubeObject
const configurations = objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
const webhooks = configurations.flatMap(configuration => list(configuration['webhooks']))
const pod = templateOf(ofKind('Deployment'))
const podLabels = fields(pod?.metadata['labels']) as Record<string, string>
const INJECT = { 'forbear.dev/inject': 'true' }
const LEAVE = { 'forbear.dev/inject': 'false' }

describe('the manifests of the webhook', () => {
  it('can be applied', () => {
    expect(climb(objects)).toEqual([])
  })

  it.each([
    ['a pod that nobody labelled', { namespace: 'shop' }, []],
    ['a labelled pod', { namespace: 'shop', labels: INJECT }, ['pod.inject.forbear.dev']],
    ['a pod of a labelled namespace', { namespace: 'shop', namespaceLabels: INJECT }, ['namespace.inject.forbear.dev']],
    [
      'a labelled pod there, once',
      { namespace: 'shop', namespaceLabels: INJECT, labels: INJECT },
      ['namespace.inject.forbear.dev'],
    ],
    ['a pod there that opts out', { namespace: 'shop', namespaceLabels: INJECT, labels: LEAVE }, []],
    [
      'a labelled pod of a namespace that opts out',
      { namespace: 'shop', namespaceLabels: LEAVE, labels: INJECT },
      ['pod.inject.forbear.dev'],
    ],
    ['a pod of the system', { namespace: 'kube-system', namespaceLabels: INJECT, labels: INJECT }, []],
    ['a node lease', { namespace: 'kube-node-lease', namespaceLabels: INJECT, labels: INJECT }, []],
    ['any pod beside the server', { namespace: 'forbear-system', namespaceLabels: INJECT, labels: INJECT }, []],
    ['a pod of the server, wherever it runs', { namespace: 'tools', namespaceLabels: INJECT, labels: podLabels }, []],
    ['an update of a pod', { namespace: 'shop', labels: INJECT, operation: 'UPDATE' as const }, []],
  ])('are asked about %s as they should be', (_, call, called) => {
    expect(calledWebhooks(configurations, { resource: 'pods', ...call })).toEqual(called)
  })

  it.each([
    ['a policy that is made', { labels: { 'forbear.dev/policy': 'true' } }, ['policy.check.forbear.dev']],
    [
      'one that is edited',
      { labels: { 'forbear.dev/policy': 'true' }, operation: 'UPDATE' as const },
      ['policy.check.forbear.dev'],
    ],
    ['one that is deleted', { labels: { 'forbear.dev/policy': 'true' }, operation: 'DELETE' as const }, []],
    ['another ConfigMap', {}, []],
    ['one labelled for injection', { labels: INJECT }, []],
  ])('are asked about %s as they should be', (_, call, called) => {
    expect(calledWebhooks(configurations, { resource: 'configmaps', namespace: 'shop', ...call })).toEqual(called)
  })

  it('break nothing when no server answers, and may be asked in a dry run', () => {
    for (const webhook of webhooks) {
      expect(webhook).toMatchObject({ failurePolicy: 'Ignore', sideEffects: 'None', admissionReviewVersions: ['v1'] })
      expect(webhook['timeoutSeconds']).toBeLessThanOrEqual(5)
    }
    expect(list(configurations[0]?.['webhooks']).map(({ reinvocationPolicy }) => reinvocationPolicy)).toEqual([
      'IfNeeded',
      'IfNeeded',
    ])
  })

  it('lead from every webhook over the service to the port of the pods', () => {
    const service = ofKind('Service')
    const port = list(fields(service['spec'])['ports'])[0]
    for (const webhook of webhooks) {
      const reference = fields(fields(webhook['clientConfig'])['service'])
      expect(reference).toMatchObject({ name: service.metadata?.['name'], namespace: service.metadata?.['namespace'] })
      expect(port?.['port']).toBe(443)
    }
    const ports = list(list(pod?.spec['containers'])[0]?.['ports'])
    expect(ports).toContainEqual({ name: port?.['targetPort'], containerPort: 8443 })
  })

  it('count, spread and guard the pods that they make', () => {
    const { spec } = pod as { spec: Fields }
    const term = list(
      fields(fields(spec['affinity'])['podAntiAffinity'])['preferredDuringSchedulingIgnoredDuringExecution'],
    )[0]
    const selectors = [
      fields(fields(ofKind('PodDisruptionBudget')['spec'])['selector']),
      fields(fields(ofKind('NetworkPolicy')['spec'])['podSelector']),
      fields(fields(term?.['podAffinityTerm'])['labelSelector']),
      fields(list(spec['topologySpreadConstraints'])[0]?.['labelSelector']),
      { matchLabels: fields(fields(ofKind('Service')['spec'])['selector']) },
    ]
    for (const selector of selectors) {
      expect(Object.keys(fields(selector['matchLabels']))).not.toEqual([])
      expect(selects(selector as LabelSelector, podLabels)).toBe(true)
    }
    expect(fields(ofKind('Deployment')['spec'])['replicas']).toBe(2)
  })

  it('let in what is listened on and nothing out', () => {
    const { ingress, egress } = fields(ofKind('NetworkPolicy')['spec'])
    const listened = list(list(pod?.spec['containers'])[0]?.['ports']).map(({ containerPort }) => containerPort)
    expect(list(ingress).flatMap(rule => list(rule['ports']).map(({ port }) => port))).toEqual(listened)
    expect(egress).toEqual([])
  })

  it('give the server no right to the API and no token', () => {
    expect(objects.filter(object => object.apiVersion.startsWith('rbac.'))).toEqual([])
    expect(ofKind('ServiceAccount')['automountServiceAccountToken']).toBe(false)
    expect(pod?.spec).toMatchObject({ automountServiceAccountToken: false, serviceAccountName: 'forbear-webhook' })
  })

  it('are restricted, as their namespace demands', () => {
    expect(fields(ofKind('Namespace').metadata?.['labels'])).toEqual({
      'pod-security.kubernetes.io/enforce': 'restricted',
    })
    expect(againstRestricted(pod?.spec ?? {})).toEqual([])
    const own = { containers: [{ name: 'a' }], hostNetwork: true, volumes: [{ name: 'v', hostPath: { path: '/' } }] }
    expect(againstRestricted(own)).toContain('a: capabilities')
    expect(againstRestricted(own)).toEqual(expect.arrayContaining(['hostNetwork', 'volume v']))
  })

  const known = kubectls().filter(({ minor }) => minor >= 32)
  const missing = known.length === 0 ? `, by kubectl from 1.32 on: ${HOW_TO_GET}` : ''
  describe.skipIf(known.length === 0)(`built${missing}`, () => {
    const built = (folder: string): KubeObject[][] =>
      known.map(kubectl => objectsOf(runTool(kubectl, ['kustomize', folder])))

    it('are the files, and inject the image that they run', () => {
      for (const whole of built('deploy/webhook/base')) {
        expect(whole).toHaveLength(objects.length)
        const deployment = whole.find(({ kind }) => kind === 'Deployment') as KubeObject
        const container = list(templateOf(deployment)?.spec['containers'])[0]
        expect(list(container?.['env'])).toContainEqual({ name: 'FORBEAR_IMAGE', value: container?.['image'] })
      }
    })

    it('with cert-manager trust the certificate that the server mounts', () => {
      for (const whole of built('deploy/webhook/cert-manager')) {
        expect(climb(whole, [])).toEqual([])
        expect(
          whole.filter(object => object.apiVersion.startsWith('cert-manager.io/')).flatMap(againstCertManager),
        ).toEqual([])
        expectTrust(whole)
      }
    })
  })
})

function expectTrust(whole: readonly KubeObject[]): void {
  const leaf = whole.find(object => object.kind === 'Certificate' && fields(object['spec'])['isCA'] !== true)
  const { secretName, dnsNames, issuerRef } = fields(leaf?.['spec'])
  expect(dnsNames).toContain('forbear-webhook.forbear-system.svc')
  expect(list(pod?.spec['volumes'])[0]).toMatchObject({ secret: { secretName } })
  const issuers = whole.filter(({ kind }) => kind === 'Issuer').map(issuer => text(issuer.metadata?.['name']))
  expect(issuers).toContain(fields(issuerRef)['name'])
  for (const configuration of whole.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
    expect(configuration.metadata?.['annotations']).toEqual({
      'cert-manager.io/inject-ca-from': `forbear-system/${text(leaf?.metadata?.['name'])}`,
    })
  }
}
