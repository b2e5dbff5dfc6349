import { containersOf } from './containers.js'
import { at, fieldsIn } from './fields.js'
import { ADMIN_PORT, HEALTH_PORT, HEALTH_PORT_NAME, PROXY_PORT } from './names.js'
import type { Settings } from './settings.js'
import type { Fields, Path, PodSpec, Problem } from './types.js'

/** All containers of a pod share its ports. */
export function portProblems(podSpec: PodSpec, settings: Settings): readonly Problem[] {
  const ours = usesOf(settings)
  return containersOf(podSpec).flatMap(({ path, name, fields }) => [
    ...declared(path, name, fields, ours),
    ...probed(path, name, fields, ours),
  ])
}

type Uses = ReadonlyMap<number, string>

function usesOf({ upstreams }: Settings): Uses {
  return new Map([
    [PROXY_PORT, 'forbear listens there for the app'],
    [ADMIN_PORT, 'forbear has its admin port there'],
    [HEALTH_PORT, 'forbear answers probes there'],
    ...upstreams.flatMap(({ port, name }): [number, string][] =>
      port === null ? [] : [[port, `forbear.dev/upstreams gives it to ${name}`]],
    ),
  ])
}

const SUGGESTION = 'let one of them listen elsewhere'

function declared(path: Path, name: string, fields: Fields, ours: Uses): readonly Problem[] {
  return fieldsIn(fields.ports).flatMap((port, index): Problem[] => {
    const at = [...path, 'ports', index]
    const use = ours.get(Number(port.containerPort))
    if (use !== undefined && (port.protocol ?? 'TCP') === 'TCP') {
      const reason = `the container ${name} has port ${port.containerPort}, and ${use}`
      return [{ path: at, reason, suggestion: SUGGESTION }]
    }
    if (port.name !== HEALTH_PORT_NAME) return []
    return [
      { path: at, reason: `the container ${name} calls a port ${HEALTH_PORT_NAME}`, suggestion: 'rename the port' },
    ]
  })
}

const PROBES = ['startupProbe', 'readinessProbe', 'livenessProbe']
const CALLS = ['httpGet', 'tcpSocket', 'grpc']

/** A container need not declare its ports, but whoever probes it knows them. */
function probed(path: Path, name: string, fields: Fields, ours: Uses): readonly Problem[] {
  const known = fieldsIn(fields.ports).map(({ containerPort }) => Number(containerPort))
  return PROBES.flatMap(probe =>
    CALLS.flatMap((call): Problem[] => {
      const port = Number(at(fields, [probe, call, 'port']))
      const use = ours.get(port)
      if (use === undefined || known.includes(port) || at(fields, [probe, call, 'host']) !== undefined) return []
      const reason = `the ${probe} of the container ${name} asks port ${port}, and ${use}`
      return [{ path: [...path, probe, call, 'port'], reason, suggestion: SUGGESTION }]
    }),
  )
}
