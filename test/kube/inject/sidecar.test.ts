import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { envOf, podIn, sidecarIn } from './pods.js'
import { deployment, inject, job } from './run.js'

describe('the native form', () => {
  test('is the first init container, restarts, and lets the others wait for its startup probe', async () => {
    const { stdout, code } = await inject(deployment('initContainers:\n- name: migrate\n'))
    const { initContainers, containers } = podIn(stdout).spec
    expect(code).toBe(0)
    expect(initContainers.map(({ name }: { name: string }) => name)).toEqual(['forbear', 'migrate'])
    expect(containers).toHaveLength(1)
    expect(initContainers[0]).toMatchObject({
      restartPolicy: 'Always',
      startupProbe: { httpGet: { path: '/startupz', port: 15082 }, periodSeconds: 1 },
    })
  })

  test('can be the last init container, and then only containers are told of it', async () => {
    const { stdout } = await inject(deployment('initContainers:\n- name: migrate\n'), '--position', 'last')
    expect(podIn(stdout).spec.initContainers.map(({ name }: { name: string }) => name)).toEqual(['migrate', 'forbear'])
    expect([envOf(stdout, 'migrate'), Object.keys(envOf(stdout, 'web'))]).toEqual([{}, ['FORBEAR_URL']])
  })

  test('fits the Pod Security Standard restricted and brings requests, a memory limit and no CPU limit', async () => {
    const { stdout } = await inject(deployment('securityContext: { runAsUser: 0 }\n'))
    expect(sidecarIn(stdout)).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    expect(sidecarIn(stdout).resources).toEqual({
      requests: { cpu: '50m', memory: '96Mi' },
      limits: { memory: '256Mi' },
    })
  })

  test('mounts the ConfigMap whole, so that edits and new files arrive', async () => {
    const { stdout } = await inject(deployment('', { 'policy-configmap': 'shop-policies', optional: 'true' }))
    expect(podIn(stdout).spec.volumes).toEqual([
      { name: 'forbear-policies', configMap: { name: 'shop-policies', optional: true } },
    ])
    expect(sidecarIn(stdout).volumeMounts).toEqual([
      { name: 'forbear-policies', mountPath: '/etc/forbear', readOnly: true },
    ])
  })
})

describe('the classic form', () => {
  test.for([
    ['--native=false', ['--native=false']],
    ['a cluster of 1.27', ['--kube-version', '1.27']],
    ['a cluster of v1.28.9-gke.1', ['--kube-version', 'v1.28.9-gke.1']],
  ])('comes first among the containers, without restartPolicy, for %s', async ([, words]) => {
    const { stdout, stderr } = await inject(deployment('initContainers:\n- name: migrate\n'), ...(words as string[]))
    const { initContainers, containers } = podIn(stdout).spec
    expect(containers.map(({ name }: { name: string }) => name)).toEqual(['forbear', 'web'])
    expect(containers[0].restartPolicy).toBeUndefined()
    expect(initContainers).toEqual([{ name: 'migrate' }])
    expect(stderr).toContain('in the classic form (before Kubernetes 1.29) init containers run before forbear')
  })

  test('leaves kubectl logs and exec to the app, unless they are settled already', async () => {
    const key = 'kubectl.kubernetes.io/default-container'
    const { stdout } = await inject(deployment(), '--native=false')
    expect(podIn(stdout).metadata.annotations[key]).toBe('web')
    const settled = await inject(
      deployment('', { image: 'x' }).replace('forbear.dev/image: "x"', `${key}: other`),
      '--native=false',
    )
    expect(podIn(settled.stdout).metadata.annotations[key]).toBe('other')
  })

  test('may have as long as the app has to end, for it hears SIGTERM at the same time', async () => {
    const { stdout } = await inject(deployment('terminationGracePeriodSeconds: 120\n'), '--native=false')
    expect(sidecarIn(stdout).args.slice(-2)).toEqual(['--drain-period', '115s'])
  })
})

test.for([
  [30, undefined],
  [120, undefined],
  [20, '15s'],
  [6, '1s'],
  [0, '1s'],
] as const)('a grace period of %i s leaves the drain its time: %s', async ([grace, drain]) => {
  const { args } = sidecarIn((await inject(deployment(`terminationGracePeriodSeconds: ${grace}\n`))).stdout)
  expect(args.slice(0, 7)).toEqual([
    'run',
    '--policies',
    '/etc/forbear',
    '--health',
    '0.0.0.0:15082',
    '--start',
    'valid-only',
  ])
  expect(args.slice(7)).toEqual(drain === undefined ? [] : ['--drain-period', drain])
})

describe('the hook of the classic form, after which the app starts', () => {
  const hookOf = async () => {
    const { command } = sidecarIn((await inject(deployment(), '--native=false')).stdout).lifecycle.postStart.exec
    return command as string[]
  }

  test('waits until forbear has started, and then lets go', async () => {
    const answers = [503, 503, 200]
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/startupz' ? (answers.shift() ?? 200) : 404).end('text')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const [, flag = '', script = ''] = await hookOf()
    const { code } = await ended(spawn(process.execPath, [flag, script.replace('15082', String(port))]))
    server.closeAllConnections()
    server.close()
    expect([code, answers]).toEqual([0, []])
  })

  test('is not there in the native form, which has its startup probe', async () => {
    expect(sidecarIn((await inject(deployment())).stdout).lifecycle).toBeUndefined()
  })
})

function ended(child: ChildProcess): Promise<{ code: number | null }> {
  return new Promise(resolve => child.once('exit', code => resolve({ code })))
}

describe('what the app is told', () => {
  test('stands before its own variables, in init containers too', async () => {
    const text = deployment(
      "  env:\n  - name: BASE\n    value: $(PAYMENTS_URL)/v1\ninitContainers:\n- { name: migrate, env: [{ name: A, value: 'y' }] }\n",
      { upstreams: 'payments=9101, e-mail' },
    )
    const { stdout } = await inject(text)
    const addresses = {
      FORBEAR_URL: 'http://127.0.0.1:15080',
      PAYMENTS_URL: 'http://127.0.0.1:9101',
      E_MAIL_URL: 'http://127.0.0.1:15080/e-mail',
    }
    expect(Object.entries(envOf(stdout, 'web'))).toEqual(Object.entries({ ...addresses, BASE: '$(PAYMENTS_URL)/v1' }))
    expect(Object.entries(envOf(stdout, 'migrate'))).toEqual(Object.entries({ ...addresses, A: 'y' }))
  })

  test('is nothing in containers that are to be left out', async () => {
    const { stdout } = await inject(deployment('- name: log\n', { 'skip-containers': 'log' }))
    expect([Object.keys(envOf(stdout, 'web')), envOf(stdout, 'log')]).toEqual([['FORBEAR_URL'], {}])
  })

  test('includes proxy variables only when asked, and never instead of its own', async () => {
    const plain = await inject(deployment())
    expect(Object.keys(envOf(plain.stdout, 'web'))).toEqual(['FORBEAR_URL'])
    const asked = await inject(
      deployment('- name: own\n  env: [{ name: http_proxy, value: "http://theirs" }]\n'),
      '--http-proxy',
    )
    expect(envOf(asked.stdout, 'web')).toMatchObject({
      HTTP_PROXY: 'http://127.0.0.1:15080',
      http_proxy: 'http://127.0.0.1:15080',
      no_proxy: expect.stringContaining('169.254.169.254'),
    })
    const { HTTP_PROXY, http_proxy } = envOf(asked.stdout, 'own')
    expect([HTTP_PROXY, http_proxy]).toEqual([undefined, 'http://theirs'])
    expect(asked.stderr).toContain('note: own sets http_proxy itself: it stays')
  })

  test('may be there already, word for word', async () => {
    const { code, stdout } = await inject(
      deployment('  env: [{ name: FORBEAR_URL, value: "http://127.0.0.1:15080" }]\n'),
    )
    expect([code, Object.keys(envOf(stdout, 'web'))]).toEqual([0, ['FORBEAR_URL']])
  })
})

test('annotations win over flags and settle image and resources', async () => {
  const own = { image: 'registry.example/forbear:9', 'cpu-request': '0.2', 'memory-request': '128Mi', 'cpu-limit': '1' }
  const { stdout } = await inject(deployment('', { ...own, native: 'false' }), '--image', 'forbear:2', '--native=true')
  expect(podIn(stdout).spec.containers[0]).toMatchObject({
    image: 'registry.example/forbear:9',
    resources: { requests: { cpu: '0.2', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
  })
})

test('a Job may take the classic form only when its app has promised to end it', async () => {
  const refused = await inject(job(), '--kube-version', '1.27')
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  const { stdout } = await inject(job(), '--kube-version', '1.27', '--quit-endpoint')
  expect(podIn(stdout).spec.containers[0].name).toBe('forbear')
  expect(envOf(stdout, 'web').FORBEAR_QUIT_URL).toBe('http://127.0.0.1:15081/quitquitquit')
})
