/** The admission of pods: the patch that puts the sidecar in. */
import { inject } from '../inject/inject.js'
import type { InjectOptions, InjectResult } from '../inject/types.js'
import { type AdmissionRequest, allow, isObject, type JsonObject } from './admission-review.js'
import { namesTooMany } from './config-map.js'
import { jsonPatch } from './json-patch.js'
import type { Reviewed } from './reviewed.js'

/** Which pods are sent here is said by the selectors of the configuration; of labels only those of the pod are known here. */
export function reviewPod(request: AdmissionRequest, options: InjectOptions): Reviewed {
  const { object, operation, resource, subResource } = request
  if (resource !== 'pods' || subResource !== '') return { decision: allow(), reason: 'not-a-pod' }
  if (operation !== 'CREATE') return { decision: allow(), reason: 'not-a-creation' }
  if (object === null) return { decision: allow('forbear: there was no pod to inject into'), reason: 'no-object' }
  const { spec, metadata } = object
  if (!isObject(spec)) return { decision: allow('forbear: not injected: the pod has no spec'), reason: 'no-object' }
  const meta = isObject(metadata) ? metadata : {}
  if (isOutsized(spec, meta)) return { decision: allow(`forbear: not injected: ${OUTSIZED}`), reason: 'outsized' }
  return reviewOf(object, inject(spec, meta, { ...options, kind: 'Pod', by: 'webhook' }))
}

/** Far above what any pod has: one that was made to keep the webhook busy must not keep others waiting. */
const MOST_CONTAINERS = 200
const MOST_ANNOTATIONS = 1000
const OUTSIZED = `the pod has more than ${MOST_CONTAINERS} containers or ${MOST_ANNOTATIONS} annotations, or too many upstreams`

function isOutsized(spec: JsonObject, { annotations }: JsonObject): boolean {
  const lists = ['initContainers', 'containers'].map(key => spec[key]).filter(list => Array.isArray(list))
  const containers = lists.reduce((sum, list) => sum + list.length, 0)
  if (containers > MOST_CONTAINERS) return true
  return isObject(annotations) && (Object.keys(annotations).length > MOST_ANNOTATIONS || namesTooMany(annotations))
}

function reviewOf(pod: JsonObject, { podSpec, meta, report }: InjectResult): Reviewed {
  const { outcome } = report
  const problems = report.problems.map(({ reason, suggestion }) => `forbear: not injected: ${reason}; ${suggestion}`)
  const warnings = [...problems, ...report.warnings.map(text => `forbear: ${text}`)]
  if (outcome !== 'injected') return { decision: allow(...warnings), reason: outcome }
  const patch = jsonPatch(pod, { ...pod, metadata: meta, spec: podSpec })
  return { decision: { allowed: true, patch, warnings }, reason: patch.length === 0 ? 'unchanged' : outcome }
}
