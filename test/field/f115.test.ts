import { expect, it } from 'vitest'
import { type Loose, podIn, sidecarIn } from '../kube/inject/pods.js'
import { deployment, inject, job } from '../kube/inject/run.js'

it.each([
  ['a Deployment', deployment('initContainers: [{ name: warm-up }]\n')],
  ['a Job', job('initContainers: [{ name: warm-up }]\n')],
])(
  'F115: what comes later in %s waits for a startup probe of the sidecar, which is asked each second',
  async (_, text) => {
    const { stdout } = await inject(text)
    const { startupProbe, ports, args } = sidecarIn(stdout)
    expect(startupProbe).toEqual({
      httpGet: { path: '/startupz', port: 15082 },
      periodSeconds: 1,
      failureThreshold: 120,
    })
    expect(ports).toEqual([{ name: 'forbear-health', containerPort: 15082 }])
    // The kubelet asks at the address of the pod.
    expect(args.join(' ')).toContain('--health 0.0.0.0:15082')
    expect(podIn(stdout).spec.initContainers.map(({ name }: Loose) => name)).toEqual(['forbear', 'warm-up'])
  },
)
