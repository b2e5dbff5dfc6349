/** What somebody at a keyboard sees: kubectl, an API server of the test, and the built webhook behind it. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caBundleCommands } from '../../../src/kube/certs/next-steps.js'
import { kubectl, kubectls } from './support/kubectl.js'
import { MiniApiServer } from './support/mini-api-server.js'
import { pod } from './support/pods.js'
import { newCertificates, WebhookProcess } from './support/webhook-process.js'

const UPSTREAM = `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: payments }
spec:
  target: http://payments.example.com
  retry:
    maxAttempts: 3
`

describe.skipIf(kubectls().length === 0)('kubectl', () => {
  let webhook: WebhookProcess
  let server: MiniApiServer
  const home = mkdtempSync(join(tmpdir(), 'forbear-kubectl-'))

  beforeAll(async () => {
    webhook = await WebhookProcess.start()
    server = await MiniApiServer.start({ pods: webhook.at('/mutate'), configmaps: webhook.at('/validate-policy') })
  })
  afterAll(async () => {
    server.close()
    await webhook.stop()
    rmSync(home, { recursive: true, force: true })
  })

  function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const connection = ['--server', server.url, '--namespace', 'shop']
    return kubectl([...connection, ...args], { HOME: home, KUBECONFIG: join(home, 'none'), ...env })
  }

  function file(name: string, value: unknown): string {
    const path = join(home, name)
    writeFileSync(path, JSON.stringify(value))
    return path
  }

  const configMap = (text: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'policies', namespace: 'shop', labels: { 'forbear.dev/policy': 'true' } },
    data: { 'payments.yaml': text },
  })

  it('create makes a pod that has the sidecar', async () => {
    const created = await run(['create', '--validate=false', '-f', file('pod.json', pod())])
    expect(created).toMatchObject({ code: 0, stdout: 'pod/shop created\n' })
    const { stdout } = await run(['get', 'pod', 'shop', '-o', 'json'])
    const { spec, metadata } = JSON.parse(stdout)
    expect(spec.initContainers[0].name).toBe('forbear')
    expect(metadata.annotations['forbear.dev/injected']).toBeTypeOf('string')
  })

  it('create warns of a pod that cannot have one, and makes it', async () => {
    const hosted = pod({ hostNetwork: true }, { name: 'hosted' })
    const { code, stderr } = await run(['create', '--validate=false', '-f', file('hosted.json', hosted)])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Warning: forbear: not injected: .*hostNetwork/)
  })

  it('create shows file, line, column and code of a bad policy, and makes nothing', async () => {
    const bad = configMap(UPSTREAM.replace('3', 'three'))
    const { code, stderr } = await run(['create', '--validate=false', '-f', file('bad.json', bad)])
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/payments\.yaml:7:18.*spec\.retry\.maxAttempts.*\[FB034\]/)
    expect(server.stored.has('configmaps/policies')).toBe(false)
  })

  it('edit opens the editor again with the mistake on top, and keeps the good policy', async () => {
    await run(['create', '--validate=false', '-f', file('good.json', configMap(UPSTREAM))])
    // Breaks the policy at first, and then keeps what it is shown and gives up.
    const editor = join(home, 'editor.sh')
    const shown = join(home, 'shown.yaml')
    writeFileSync(
      editor,
      `#!/bin/sh\nif [ -e ${home}/once ]; then cp "$1" ${shown}; else touch ${home}/once; sed -i 's/maxAttempts: 3/maxAttempts: three/' "$1"; fi\n`,
    )
    chmodSync(editor, 0o755)
    const { code, stderr } = await run(['edit', 'configmap', 'policies', '--validate=false'], { KUBE_EDITOR: editor })
    expect(code).not.toBe(0)
    expect(stderr).toContain('error: configmaps "policies" is invalid')
    expect(existsSync(shown)).toBe(true)
    const comments = readFileSync(shown, 'utf8')
      .split('\n')
      .filter(line => line.startsWith('#'))
    expect(comments).toContain('# configmaps "policies" was not valid:')
    expect(comments).toContainEqual(
      expect.stringMatching(/^# \* payments\.yaml:7:18: spec\.retry\.maxAttempts .*\[FB034\]$/),
    )
    expect(server.stored.get('configmaps/policies')?.['data']).toEqual({ 'payments.yaml': UPSTREAM })
  })

  it('patches the caBundle of every webhook by the printed commands, and nothing else', async () => {
    const set = await newCertificates()
    const [first = ''] = caBundleCommands(set).split('\n')
    const patch = /-p '(.*)'$/.exec(first)?.[1] ?? ''
    const clientConfig = { service: { name: 'forbear-webhook', namespace: 'forbear-system', path: '/mutate' } }
    const webhooks = ['namespace.inject.forbear.dev', 'pod.inject.forbear.dev', 'other.example.com'].map(name => ({
      name,
      clientConfig,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    }))
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'forbear-webhook' },
      webhooks,
    }
    const path = file('configuration.json', configuration)
    const { stdout } = await kubectl(['patch', '--local', '-f', path, '-p', patch, '-o', 'json'])
    const caBundle = Buffer.from(set['ca.crt']).toString('base64')
    const patched = webhooks.map((one, index) =>
      index < 2 ? { ...one, clientConfig: { ...clientConfig, caBundle } } : one,
    )
    expect(JSON.parse(stdout).webhooks).toEqual(patched)
  })
})
