import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { podIn, sidecarIn } from '../kube/inject/pods.js'
import { deployment, inject, uninject } from '../kube/inject/run.js'

const agent = deployment('hostNetwork: true\nhostPID: true\n').replace('Deployment', 'DaemonSet')

it('F120: a pod on the network of the node, piped, ends with an error that names it, and nothing comes out', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/cmd/forbear.js', 'inject', '-'], {
    input: `${deployment()}---\n${agent}`,
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toContain('standard input:24: DaemonSet ops/shop: hostNetwork is true')
  expect(stderr).toContain('--allow-host-network')
})

it.each(['true', 'yes', 'on', '"true"'])('F120: hostNetwork: %s is one, too', async word => {
  const { code, stdout } = await inject(agent.replace('hostNetwork: true', `hostNetwork: ${word}`))
  expect([code, stdout]).toEqual([1, ''])
})

it('F120: when it is allowed nothing listens but on loopback, where the kubelet asks as well', async () => {
  const { stdout } = await inject(agent, '--allow-host-network')
  const sidecar = sidecarIn(stdout)
  expect(sidecar.args).toContain('127.0.0.1:15082')
  expect(JSON.stringify(sidecar)).not.toContain('0.0.0.0')
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    expect(sidecar[probe].httpGet).toMatchObject({ host: '127.0.0.1', port: 15082 })
  }
  expect(podIn(stdout).spec.hostNetwork).toBe(true)
  expect((await uninject(stdout)).stdout).toBe(agent)
})

it('F120: off the network of the node the flag changes nothing', async () => {
  expect((await inject(deployment(), '--allow-host-network')).stdout).toBe((await inject(deployment())).stdout)
})
