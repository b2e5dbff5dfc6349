/** Fields of a pod that the rehearsal plays, named as in the Kubernetes API. */
export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number }
  readonly periodSeconds?: number
  readonly failureThreshold?: number
}

export interface Hook {
  readonly exec?: { readonly command: readonly string[] }
  readonly sleep?: { readonly seconds: number }
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly restartPolicy?: 'Always'
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly startupProbe?: Probe
  readonly readinessProbe?: Probe
  readonly livenessProbe?: Probe
  readonly lifecycle?: { readonly postStart?: Hook; readonly preStop?: Hook }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

export interface Volume {
  readonly name: string
  readonly configMap?: { readonly name: string }
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds?: number
  readonly restartPolicy?: 'Always' | 'Never'
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes?: readonly Volume[]
}

export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always'

export const environment = ({ env = [] }: Container): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]))
