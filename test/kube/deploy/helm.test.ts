import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inject } from '../../../src/kube/inject/inject.js'
import { calledWebhooks } from '../support/called-webhooks.js'
import { againstCertManager } from '../support/cert-manager.js'
import { climb } from '../support/ladder/ladder.js'
import {
  type Fields,
  fields,
  type KubeObject,
  list,
  nameOf,
  objectsOf,
  templateOf,
  text,
} from '../support/ladder/objects.js'
import { againstRestricted } from '../support/restricted.js'
import { HOW_TO_GET, helms, runTool, type Tool } from '../support/tools.js'

const CHART = 'deploy/helm'
const HA = ['-f', `${CHART}/values-ha.yaml`]
const CERT_MANAGER = ['--set', 'certificates.mode=cert-manager']
const found = helms()

function render(helm: Tool, ...args: string[]): KubeObject[] {
  return objectsOf(runTool(helm, ['template', 'forbear', CHART, '--namespace', 'forbear-system', ...args]))
}

function ofKind(objects: readonly KubeObject[], kind: string): KubeObject | undefined {
  return objects.find(object => object.kind === kind)
}

function webhookContainer(objects: readonly KubeObject[]): Fields {
  const deployment = ofKind(objects, 'Deployment')
  return list(deployment && templateOf(deployment)?.spec['containers'])[0] ?? {}
}

function variable(container: Fields, name: string): string {
  return text(list(container['env']).find(entry => entry['name'] === name)?.['value'])
}

describe('the chart', () => {
  it('names the version of the program', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const [chart] = objectsOf(`kind: Chart\n${readFileSync(`${CHART}/Chart.yaml`, 'utf8')}`)
    expect(chart?.['appVersion']).toBe(version)
  })
})

describe.each(found)('the chart with Helm $version', helm => {
  it.each([
    ['as it is', []],
    ['for many servers', HA],
    ['with cert-manager', CERT_MANAGER],
  ])('passes a strict lint %s', (_, args) => {
    expect(runTool(helm, ['lint', '--strict', CHART, ...args])).toContain('1 chart(s) linted, 0 chart(s) failed')
  })

  it.each([
    ['as it is', []],
    ['for many servers with cert-manager', [...HA, ...CERT_MANAGER]],
    [
      'for 1.27 without what can be left out',
      ['--kube-version', '1.27', '--set', 'networkPolicy=false,podDisruptionBudget=false,validating.enabled=false'],
    ],
    [
      'with everything said',
      [
        '--set',
        `image.digest=sha256:${'a'.repeat(64)},image.pullSecrets[0].name=r,certificates.caBundle=Zm9v,nodeSelector.os=linux,podAnnotations.a=b,tolerations[0].operator=Exists,port=9443`,
      ],
    ],
  ])('renders %s what can be applied', (_, args) => {
    const objects = render(helm, ...args)
    // Both render the same (see below), and a round trip through every kubectl takes its time.
    expect(climb(objects, helm === found[0] ? undefined : [])).toEqual([])
    expect(
      objects.filter(object => object.apiVersion.startsWith('cert-manager.io/')).flatMap(againstCertManager),
    ).toEqual([])
    expect(againstRestricted(templateOf(ofKind(objects, 'Deployment') as KubeObject)?.spec ?? {})).toEqual([])
    expect(objects.filter(object => object.apiVersion.startsWith('rbac.'))).toEqual([])
  })

  it.each([
    ['1.27', [], 'classic'],
    ['1.29', [], 'native'],
    ['1.35', [], 'native'],
    ['v1.35.2-gke.100', [], 'native'],
    ['1.35', ['--set-string', 'injection.kubeVersion=1.28'], 'classic'],
    ['1.35', ['--set', 'injection.native=false'], 'classic'],
  ])('on %s with %j has pods injected in the %s form', (version, args, form) => {
    const container = webhookContainer(render(helm, '--kube-version', version, ...args))
    const options = {
      image: variable(container, 'FORBEAR_IMAGE'),
      kubeVersion: variable(container, 'FORBEAR_KUBE_VERSION'),
      native: variable(container, 'FORBEAR_NATIVE') as 'auto',
    }
    expect(inject({ containers: [{ name: 'shop', image: 'shop' }] }, {}, options).report).toMatchObject({ form })
  })

  it.each([
    ['a misspelt value', 'replica=3'],
    ['a failure policy that is none', 'mutating.failurePolicy=ignore'],
    ['a timeout beyond 30 s', 'validating.timeoutSeconds=60'],
    ['no server', 'replicas=0'],
    ['one server on which every labelled pod depends', 'replicas=1,mutating.failurePolicy=Fail'],
    ['a quantity that is none', 'resources.limits.memory=256MB'],
    ['a version that is none', 'injection.kubeVersion=latest'],
    ['a way to certificates that is none', 'certificates.mode=self-signed'],
    ['a bundle that is not base64', 'certificates.caBundle=-----BEGIN'],
    ['the health port for the webhook', 'port=15082'],
    ['an image without a name', 'image.repository='],
  ])('refuses %s', (_, values) => {
    expect(() => render(helm, '--set', values)).toThrow(/values don't meet the specifications of the schema/)
  })

  it('leads from the certificate to the Secret that is mounted and to the names that are called', () => {
    const objects = render(helm, ...CERT_MANAGER)
    const leaf = objects.find(({ kind, spec }) => kind === 'Certificate' && fields(spec)['isCA'] !== true)
    const deployment = templateOf(ofKind(objects, 'Deployment') as KubeObject)
    expect(fields(leaf?.['spec'])['dnsNames']).toContain('forbear-webhook.forbear-system.svc')
    expect(list(deployment?.spec['volumes'])[0]).toMatchObject({
      secret: { secretName: fields(leaf?.['spec'])['secretName'] },
    })
    const injected = objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
    const annotation = { 'cert-manager.io/inject-ca-from': 'forbear-system/forbear-webhook' }
    expect(injected.map(({ metadata }) => metadata?.['annotations'])).toEqual([annotation, annotation])
    const own = render(helm, ...CERT_MANAGER, '--set', 'certificates.certManager.issuerRef.name=company')
    expect(own.filter(({ kind }) => kind === 'Issuer')).toEqual([])
  })

  it('writes the CA of an own Secret into every webhook, and none where it is to be patched', () => {
    const bundles = (...args: string[]) =>
      render(helm, ...args)
        .flatMap(object => list(object['webhooks']))
        .map(webhook => fields(webhook['clientConfig'])['caBundle'])
    expect(bundles()).toEqual([undefined, undefined, undefined])
    expect(bundles('--set', 'certificates.caBundle=Zm9v')).toEqual(['Zm9v', 'Zm9v', 'Zm9v'])
  })

  it('leaves out its own namespace, whatever it is called, and those it is told', () => {
    const objects = render(helm, '--namespace', 'platform', '--set', 'injection.excludedNamespaces[0]=legacy')
    const asked = (namespace: string) =>
      calledWebhooks(objects, { resource: 'pods', namespace, labels: { 'forbear.dev/inject': 'true' } })
    expect(['kube-system', 'platform', 'legacy', 'forbear-system'].map(asked)).toEqual([
      [],
      [],
      [],
      ['pod.inject.forbear.dev'],
    ])
  })

  it('has the webhooks, the container and the guards of the plain manifests', () => {
    const plain = objectsOf(
      ['server', 'webhooks'].map(name => readFileSync(`deploy/webhook/base/${name}.yaml`, 'utf8')).join('\n---\n'),
    )
    const rendered = render(helm)
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
      expect(ofKind(rendered, kind)?.['webhooks']).toEqual(ofKind(plain, kind)?.['webhooks'])
    }
    const { args: _, env: __, imagePullPolicy: ___, ...container } = webhookContainer(rendered)
    expect(webhookContainer(plain)).toMatchObject(container)
    expect(rendered.map(nameOf).sort()).toEqual(plain.map(nameOf).sort())
  })

  it('renders the same as the other Helm', context => {
    const other = found.find(({ version }) => version !== helm.version)
    if (other === undefined) return context.skip(`a second Helm: ${HOW_TO_GET}`)
    const sorted = (objects: KubeObject[]) => objects.sort((a, b) => nameOf(a).localeCompare(nameOf(b)))
    const args = ['--kube-version', '1.35', ...HA, ...CERT_MANAGER]
    expect(sorted(render(helm, ...args))).toEqual(sorted(render(other, ...args)))
  })
})

if (found.length === 0) it.skip(`the chart is linted and rendered by Helm: ${HOW_TO_GET}`, () => {})
