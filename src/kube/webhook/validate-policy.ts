/** The admission of ConfigMaps that hold policies: an edit that no sidecar could use does not get in. */
import { isDeepStrictEqual } from 'node:util'
import { type AdmissionRequest, allow, type Decision, type JsonObject } from './admission-review.js'
import { configMapWarnings, filesOf, isPolicyConfigMap, POLICY_LABEL, wantedUpstreams } from './config-map.js'
import type { Judge, Verdict } from './judge.js'
import type { Reviewed } from './reviewed.js'

export async function reviewPolicyMap(
  request: AdmissionRequest,
  judge: Judge,
  time: () => AbortSignal,
): Promise<Reviewed> {
  const { object, oldObject, operation, resource, subResource } = request
  if (resource !== 'configmaps' || subResource !== '') return { decision: allow(), reason: 'not-a-configmap' }
  if (operation !== 'CREATE' && operation !== 'UPDATE') return { decision: allow(), reason: 'not-an-edit' }
  if (object === null) return { decision: allow('forbear: there was no ConfigMap to check'), reason: 'no-object' }
  // An API server also asks when the label is being taken away.
  if (!isPolicyConfigMap(object)) return { decision: allow(UNLABELLED), reason: 'not-labelled' }
  const verdict = await judge(filesOf(object), time())
  return { ...decide(request, object, oldObject, verdict), codes: verdict.codes }
}

const UNLABELLED = `forbear: without the label ${POLICY_LABEL}: "true" the policies are no longer checked when they are edited`

function decide(
  request: AdmissionRequest,
  object: JsonObject,
  oldObject: JsonObject | null,
  verdict: Verdict,
): Reviewed {
  const warnings = [...configMapWarnings(object), ...upstreamWarnings(object, verdict), ...verdict.warnings]
  if (verdict.causes.length === 0) return { decision: allow(...warnings), reason: 'valid' }
  // A label, an owner or a finalizer may change however bad the policies are that got in before.
  if (oldObject !== null && isDeepStrictEqual(oldObject['data'], object['data']) && isPolicyConfigMap(oldObject)) {
    const told = verdict.causes.map(({ field, message }) => `${field} ${message}`)
    return { decision: allow(...told, ...warnings), reason: 'unchanged' }
  }
  return { decision: refuse(request, verdict, warnings), reason: 'invalid' }
}

function refuse({ name }: AdmissionRequest, { causes, message }: Verdict, warnings: readonly string[]): Decision {
  const details = { kind: 'ConfigMap', name, causes }
  return { allowed: false, warnings, status: { code: 422, reason: 'Invalid', message, details } }
}

/** What apps count on by the annotation, and nothing in the policies answers to. */
function upstreamWarnings(object: JsonObject, { upstreams }: Verdict): string[] {
  const known = new Set(upstreams)
  return wantedUpstreams(object)
    .filter(name => !known.has(name))
    .map(name => `no policy here declares the upstream ${name}, which the annotation forbear.dev/upstreams names`)
}
