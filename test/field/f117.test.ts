import { expect, it } from 'vitest'
import { podIn, sidecarIn } from '../kube/inject/pods.js'
import { deployment, inject, run } from '../kube/inject/run.js'

const text = deployment('initContainers: [{ name: migrate }]\n')

it.each([
  ['1.27', 'classic'],
  ['v1.28.15', 'classic'],
  ['1.29', 'native'],
  ['v1.31.2-eks-1552ad0', 'native'],
  ['2.0', 'native'],
])('F117: Kubernetes %s gets the %s form, whole', async (version, form) => {
  const { stdout } = await inject(text, '--kube-version', version)
  const { initContainers, containers } = podIn(stdout).spec
  const sidecar = sidecarIn(stdout)
  expect((form === 'native' ? initContainers : containers)[0]).toEqual(sidecar)
  expect('restartPolicy' in sidecar).toBe(form === 'native')
  if (form === 'classic') expect(initContainers).toEqual([{ name: 'migrate' }])
})

it('F117: what the default needs is said in the help and with the result', async () => {
  expect((await inject(text)).stderr).toContain('native sidecar forbear (Kubernetes 1.29 or later)')
  await expect(run(['inject', '--help'])).rejects.toThrow('(outputHelp)')
  const help = await helpText()
  expect(help).toContain('needs Kubernetes 1.29')
  expect(help).toContain('$ forbear inject')
})

async function helpText(): Promise<string> {
  const { Command } = await import('commander')
  const { registerInject } = await import('../../cmd/inject.js')
  const program = new Command('forbear')
  registerInject(program)
  let text = ''
  program.commands[0]?.configureOutput({ writeOut: part => (text += part) }).outputHelp()
  return text
}

it('F117: native sidecars for an older cluster, by flag or by annotation, are refused', async () => {
  const flagged = await inject(text, '--kube-version', '1.27', '--native=true')
  const annotated = await inject(deployment('', { native: 'true' }), '--kube-version', '1.27')
  for (const { code, stdout, stderr } of [flagged, annotated]) {
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('native sidecars need Kubernetes 1.29, and the cluster is 1.27')
  }
})
