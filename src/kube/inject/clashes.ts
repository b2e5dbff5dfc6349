import { nearest } from '../../policy/nearest.js'
import { containersOf } from './containers.js'
import { at, fieldsIn } from './fields.js'
import { CONTAINER_NAME, HEALTH_PORT, PROXY_PORT, VOLUME_NAME } from './names.js'
import { portProblems } from './ports.js'
import type { Settings } from './settings.js'
import { usesHostNetwork } from './sidecar.js'
import type { InjectOptions, Path, PodMeta, PodSpec, Problem } from './types.js'

/** What of the pod cannot stand beside forbear. */
export function clashesOf(
  podSpec: PodSpec,
  meta: PodMeta,
  settings: Settings,
  options: InjectOptions,
): readonly Problem[] {
  return [
    ...mirrorProblems(meta),
    ...hostProblems(podSpec, options),
    ...nameProblems(podSpec, options),
    ...portProblems(podSpec, settings),
    ...skipProblems(podSpec, settings),
  ]
}

const MIRROR: Path = ['annotations', 'kubernetes.io/config.mirror']

function mirrorProblems(meta: PodMeta): readonly Problem[] {
  if (at(meta, MIRROR) === undefined) return []
  const reason = 'it mirrors a static pod, and what is changed in it changes nothing on the node'
  return [{ path: ['metadata', ...MIRROR], reason, suggestion: 'inject the manifest that lies on the node' }]
}

function hostProblems(podSpec: PodSpec, { allowHostNetwork }: InjectOptions): readonly Problem[] {
  const problems: Problem[] = []
  const windows = WINDOWS.find(path => at(podSpec, path) === 'windows')
  if (windows !== undefined) {
    const reason = 'the pod runs on Windows, and the image is for Linux'
    problems.push({ path: ['spec', ...windows], reason, suggestion: LEAVE_OUT })
  }
  if (usesHostNetwork(podSpec) && allowHostNetwork !== true) {
    problems.push({
      path: ['spec', 'hostNetwork'],
      reason: `hostNetwork is true: ports ${PROXY_PORT} to ${HEALTH_PORT} would be those of the node, where a second such pod finds them taken, and its loopback is shared with everything on the node`,
      suggestion: `${LEAVE_OUT}; or give --allow-host-network, with which nothing listens but on 127.0.0.1`,
    })
  }
  return problems
}

const LEAVE_OUT = 'label the pod forbear.dev/inject: "false"'

const WINDOWS: readonly Path[] = [
  ['os', 'name'],
  ['nodeSelector', 'kubernetes.io/os'],
  ['nodeSelector', 'beta.kubernetes.io/os'],
]

function nameProblems(podSpec: PodSpec, { claims = [] }: InjectOptions): readonly Problem[] {
  const containers = containersOf(podSpec)
    .filter(({ name }) => name === CONTAINER_NAME)
    .map(({ path }) => ({
      path,
      reason: `a container is called ${CONTAINER_NAME} already, and forbear inject did not add it`,
      suggestion: `rename it; if it is a sidecar that was written by hand, remove it or ${LEAVE_OUT}`,
    }))
  const volumes = fieldsIn(podSpec.volumes).flatMap(({ name }, index) =>
    name !== VOLUME_NAME
      ? []
      : [
          {
            path: ['spec', 'volumes', index],
            reason: `a volume is called ${VOLUME_NAME} already, and forbear inject did not add it`,
            suggestion: 'rename it and its mounts',
          },
        ],
  )
  const claimed: Problem = {
    path: ['spec'],
    reason: `a volume claim template is called ${VOLUME_NAME}, and its volume would take the place of the policies`,
    suggestion: 'rename it and its mounts',
  }
  return [...containers, ...volumes, ...(claims.includes(VOLUME_NAME) ? [claimed] : [])]
}

function skipProblems(podSpec: PodSpec, { skipContainers }: Settings): readonly Problem[] {
  const names = containersOf(podSpec).map(({ name }) => name)
  return skipContainers
    .filter(name => !names.includes(name))
    .map(name => {
      const near = nearest(name, names)
      return {
        path: ['metadata', 'annotations', 'forbear.dev/skip-containers'],
        reason: `there is no container ${name}`,
        suggestion: near === null ? `write some of ${names.join(', ')}` : `did you mean ${near}?`,
      }
    })
}
