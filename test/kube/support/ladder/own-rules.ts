import { containerRules } from './container-rules.js'
import { fields, type KubeObject, list, type PodTemplate, repeated, templateOf, text } from './objects.js'

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/
const QUALIFIED_NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** What the API server refuses though every schema allows it. */
export function breaksOwnRules(object: KubeObject): string[] {
  const template = templateOf(object)
  return [...metadataRules(fields(object.metadata)), ...(template === undefined ? [] : podRules(object, template))]
}

function metadataRules(metadata: KubeObject['metadata']): string[] {
  const name = text(fields(metadata)['name'])
  const labels = Object.entries(fields(fields(metadata)['labels']))
  const annotations = Object.keys(fields(fields(metadata)['annotations']))
  return [
    ...(DNS_SUBDOMAIN.test(name) && name.length <= 253 ? [] : [`metadata.name ${name} is no DNS name`]),
    ...[...labels.map(([key]) => key), ...annotations]
      .filter(key => !QUALIFIED_NAME.test(key))
      .map(key => `${key} is no name of a label or annotation`),
    ...labels.filter(([, value]) => !LABEL_VALUE.test(text(value))).map(([key]) => `label ${key} has no legal value`),
  ]
}

function podRules(object: KubeObject, { metadata, spec }: PodTemplate): string[] {
  const containers = [...list(spec['initContainers']), ...list(spec['containers'])]
  const volumes = list(spec['volumes']).map(({ name }) => text(name))
  const claims = list(fields(object['spec'])['volumeClaimTemplates']).map(claim =>
    text(fields(claim['metadata'])['name']),
  )
  return [
    ...(object.kind === 'Pod' ? [] : metadataRules({ name: 'template', ...metadata })),
    ...repeated(containers.map(({ name }) => text(name))).map(name => `container ${name} twice`),
    ...repeated(volumes).map(name => `volume ${name} twice`),
    ...volumes.filter(name => !DNS_LABEL.test(name)).map(name => `volume ${name} is no DNS label`),
    ...repeated(hostPorts(containers, spec)).map(port => `host port ${port} twice`),
    ...containers.flatMap(container => containerRules(container, [...volumes, ...claims])),
    ...list(spec['initContainers']).flatMap(initRules),
    ...list(spec['containers']).flatMap(({ name, restartPolicy }) =>
      restartPolicy === undefined ? [] : [`container ${name} has a restartPolicy, which only init containers have`],
    ),
    ...selectorRules(object, fields(metadata['labels'])),
    ...jobRules(object, spec),
  ]
}

function initRules(container: Record<string, unknown>): string[] {
  if (container['restartPolicy'] === 'Always') return []
  if (container['restartPolicy'] !== undefined)
    return [`init container ${container['name']}: restartPolicy is not Always`]
  return ['startupProbe', 'readinessProbe', 'livenessProbe', 'lifecycle']
    .filter(field => field in container)
    .map(field => `init container ${container['name']} has a ${field} and does not restart`)
}

function hostPorts(containers: readonly Record<string, unknown>[], spec: Record<string, unknown>): string[] {
  const ports = containers.flatMap(container => list(container['ports']))
  return ports
    .map(port => (spec['hostNetwork'] === true ? port['containerPort'] : port['hostPort']))
    .filter(port => port !== undefined)
    .map(text)
}

/** The pods that a workload makes must be those that it counts. */
function selectorRules(object: KubeObject, labels: Record<string, unknown>): string[] {
  const wanted = fields(fields(fields(object['spec'])['selector'])['matchLabels'])
  return Object.entries(wanted)
    .filter(([key, value]) => labels[key] !== value)
    .map(([key]) => `selector wants label ${key}, the pod has another`)
}

function jobRules(object: KubeObject, spec: Record<string, unknown>): string[] {
  const isJob = object.kind === 'Job' || object.kind === 'CronJob'
  return isJob && !['Never', 'OnFailure'].includes(text(spec['restartPolicy']))
    ? ['the pod of a job restarts Always']
    : []
}
