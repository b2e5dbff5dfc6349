import { containersOf } from './containers.js'
import { at, isFields, textOf } from './fields.js'
import { quantity } from './resources.js'
import type { Settings } from './settings.js'
import type { PodSpec } from './types.js'

/** What one more container with requests and limits of its own means for those of the pod. */
export function resourceWarnings(podSpec: PodSpec, { resources }: Settings): readonly string[] {
  if (isFields(podSpec.resources)) {
    const { cpu, memory } = resources.requests
    return [
      `spec.resources is for the whole pod: it has to hold the requests of forbear (${cpu}, ${memory}) and its limits, too, or the API server refuses the pod`,
    ]
  }
  const isGuaranteed = containersOf(podSpec).every(({ fields }) => isFixed(fields.resources))
  if (!isGuaranteed || isFixed(resources)) return []
  return [
    'the QoS class of the pod was Guaranteed and becomes Burstable: to keep it set forbear.dev/cpu-request and cpu-limit to one value, and memory-request and memory-limit to one value',
  ]
}

/** Whether no more can be used than is reserved; what is not requested is requested up to its limit. */
function isFixed(resources: unknown): boolean {
  return ['cpu', 'memory'].every(name => {
    const limit = amount(at(resources, ['limits', name]))
    const request = at(resources, ['requests', name])
    return limit !== null && (request === undefined || amount(request) === limit)
  })
}

function amount(value: unknown): number | null {
  return typeof value === 'number' ? value : quantity(textOf(value) ?? '')
}
