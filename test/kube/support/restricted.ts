import { type Fields, fields, list, text } from './ladder/objects.js'

/** What the Pod Security Standard `restricted` has against a pod, as far as the fields used here go. */
export function againstRestricted(spec: Fields): string[] {
  const containers = [...list(spec['initContainers']), ...list(spec['containers'])]
  const volumes = list(spec['volumes']).filter(volume => !ALLOWED_VOLUMES.some(kind => kind in volume))
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter(field => spec[field] === true),
    ...volumes.map(({ name }) => `volume ${text(name)}`),
    ...containers.flatMap(container => againstContainer(container, fields(spec['securityContext']))),
  ]
}

const ALLOWED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

function againstContainer(container: Fields, ofPod: Fields): string[] {
  const context = { ...ofPod, ...fields(container['securityContext']) }
  const wrong = {
    allowPrivilegeEscalation: context['allowPrivilegeEscalation'] !== false,
    runAsNonRoot: context['runAsNonRoot'] !== true,
    runAsUser: context['runAsUser'] === 0,
    capabilities: !JSON.stringify(fields(context['capabilities'])).match(/^{"drop":\["ALL"\]}$/),
    seccompProfile: !['RuntimeDefault', 'Localhost'].includes(text(fields(context['seccompProfile'])['type'])),
  }
  return Object.entries(wrong).flatMap(([field, isWrong]) => (isWrong ? [`${text(container['name'])}: ${field}`] : []))
}
