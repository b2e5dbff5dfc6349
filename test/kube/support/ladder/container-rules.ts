import { type Fields, fields, list, repeated, text } from './objects.js'
import { quantity } from './quantity.js'

const CONTAINER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const PORT_NAME = /^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/
const PROBES = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const

/** `volumes` are the names that a mount may have. */
export function containerRules(container: Fields, volumes: readonly string[]): string[] {
  const name = text(container['name'])
  const problems = [
    ...(CONTAINER_NAME.test(name) ? [] : ['its name is no DNS label']),
    ...(container['image'] === undefined ? ['it has no image'] : []),
    ...portRules(list(container['ports'])),
    ...mountRules(list(container['volumeMounts']), volumes),
    ...list(container['env'])
      .filter(entry => !ENV_NAME.test(text(entry['name'])))
      .map(entry => `env ${entry['name']} is no name`),
    ...repeated(list(container['env']).map(entry => text(entry['name']))).map(entry => `env ${entry} twice`),
    ...PROBES.flatMap(probe => probeRules(probe, container)),
    ...resourceRules(fields(container['resources'])),
  ]
  return problems.map(problem => `container ${name}: ${problem}`)
}

function portRules(ports: readonly Fields[]): string[] {
  const names = ports.flatMap(({ name }) => (name === undefined ? [] : [text(name)]))
  const sockets = ports.map(({ containerPort, protocol }) => `${text(containerPort)}/${text(protocol ?? 'TCP')}`)
  return [
    ...names.filter(name => !PORT_NAME.test(name)).map(name => `port name ${name} is not allowed`),
    ...repeated(names).map(name => `port name ${name} twice`),
    ...repeated(sockets).map(socket => `port ${socket} twice`),
    ...ports.flatMap(({ containerPort }) => (isPort(containerPort) ? [] : [`port ${text(containerPort)} is none`])),
  ]
}

function isPort(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535
}

function mountRules(mounts: readonly Fields[], volumes: readonly string[]): string[] {
  return [
    ...mounts.filter(({ name }) => !volumes.includes(text(name))).map(({ name }) => `mount of no volume ${text(name)}`),
    ...repeated(mounts.map(({ mountPath }) => text(mountPath))).map(path => `mount path ${path} twice`),
  ]
}

function probeRules(probe: (typeof PROBES)[number], container: Fields): string[] {
  const settings = fields(container[probe])
  const handlers = ['httpGet', 'tcpSocket', 'exec', 'grpc'].filter(handler => handler in settings)
  if (!(probe in container)) return []
  const port = fields(settings['httpGet'] ?? settings['tcpSocket'])['port']
  const names = list(container['ports']).map(({ name }) => name)
  return [
    ...(handlers.length === 1 ? [] : [`${probe} has ${handlers.length} handlers`]),
    ...(typeof port === 'string' && !names.includes(port) ? [`${probe} names no port ${port}`] : []),
    ...(typeof port === 'number' && !isPort(port) ? [`${probe} has no port`] : []),
    ...(probe !== 'readinessProbe' && (settings['successThreshold'] ?? 1) !== 1
      ? [`${probe}: successThreshold is 1`]
      : []),
  ]
}

function resourceRules(resources: Fields): string[] {
  const requests = fields(resources['requests'])
  const limits = fields(resources['limits'])
  const broken = [...Object.entries(requests), ...Object.entries(limits)].filter(
    ([, value]) => quantity(value) === undefined,
  )
  const above = Object.entries(requests).filter(([resource, value]) => {
    const limit = quantity(limits[resource])
    return limit !== undefined && (quantity(value) ?? 0) > limit
  })
  return [
    ...broken.map(([resource, value]) => `${resource} ${text(value)} is no quantity`),
    ...above.map(([resource]) => `asks for more ${resource} than its limit`),
  ]
}
