import { fieldsIn } from './fields.js'
import { NATIVE_SINCE } from './form.js'
import { resourceWarnings } from './quality.js'
import type { Settings } from './settings.js'
import { drainPeriodS } from './sidecar.js'
import type { PodSpec } from './types.js'

const MESHES = ['istio-proxy', 'linkerd-proxy']

/** What works, but perhaps not as expected. */
export function warningsOf(podSpec: PodSpec, settings: Settings): readonly string[] {
  const warnings: string[] = []
  const names = [...fieldsIn(podSpec.initContainers), ...fieldsIn(podSpec.containers)].map(({ name }) => name)
  for (const mesh of MESHES.filter(name => names.includes(name))) {
    warnings.push(`${mesh} is in the pod, too: let only one of the two retry, or their retries multiply`)
  }
  if (settings.form === 'classic') {
    warnings.push(
      `in the classic form (before Kubernetes ${NATIVE_SINCE}) init containers run before forbear and cannot use it`,
    )
  }
  warnings.push(...resourceWarnings(podSpec, settings))
  const grace = podSpec.terminationGracePeriodSeconds
  if (typeof grace === 'number' && grace < SHORT_GRACE_S) {
    const drainS = drainPeriodS(podSpec, settings.form)
    warnings.push(`terminationGracePeriodSeconds is ${grace}: calls under way get ${drainS} s to end`)
  }
  return warnings
}

const SHORT_GRACE_S = 10
