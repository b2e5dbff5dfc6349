/** A ConfigMap that holds policies: what a sidecar that mounts it will read, and what is unwise about it. */
import { isPolicyFile } from '../../policy/source.js'
import { parseUpstreams } from '../inject/upstreams.js'
import { isObject, type JsonObject, textAt } from './admission-review.js'

export const POLICY_LABEL = 'forbear.dev/policy'
/** As on a pod: the upstreams that apps count on. */
const UPSTREAMS_ANNOTATION = 'forbear.dev/upstreams'
/** Of that annotation; some hundred names. */
const MOST_UPSTREAMS_CHARS = 16_384

/** An API server takes no more. */
const MOST_BYTES = 1024 * 1024
const NEARLY_FULL_BYTES = 900 * 1024
/** `kubectl apply` keeps a copy in an annotation, and all annotations of an object may have 256 KiB. */
const LARGE_FOR_APPLY_BYTES = 200 * 1024

/** File name → text, of all keys of `data`. */
export function filesOf(configMap: JsonObject): ReadonlyMap<string, string> {
  return new Map(Object.entries(mappingAt(configMap, 'data')).map(([key, value]) => [key, String(value)]))
}

export function isPolicyConfigMap(configMap: JsonObject): boolean {
  return mappingAt(mappingAt(configMap, 'metadata'), 'labels')[POLICY_LABEL] === 'true'
}

/** The upstreams that its annotation says apps call. */
export function wantedUpstreams(configMap: JsonObject): string[] {
  const annotations = mappingAt(mappingAt(configMap, 'metadata'), 'annotations')
  if (namesTooMany(annotations)) return []
  return parseUpstreams(textAt(annotations, UPSTREAMS_ANNOTATION), () => undefined).map(({ name }) => name)
}

/** Upstreams beyond what is worth the time. */
export function namesTooMany(annotations: JsonObject): boolean {
  return textAt(annotations, UPSTREAMS_ANNOTATION).length > MOST_UPSTREAMS_CHARS
}

/** About the ConfigMap itself, not its policies. */
export function configMapWarnings(configMap: JsonObject): string[] {
  const data = Object.keys(mappingAt(configMap, 'data'))
  const binary = Object.keys(mappingAt(configMap, 'binaryData'))
  return [
    ...sizeWarnings(configMap),
    ...(configMap['immutable'] === true ? [IMMUTABLE] : []),
    ...binary.map(key => `${key} is in binaryData: a policy belongs in data, where it can be checked`),
    ...data
      .filter(isUnreadPolicy)
      .map(key => `${key} is not read: name it ${key.replace(/\.json$/, '.yaml')} (JSON is YAML)`),
  ]
}

const IMMUTABLE =
  'immutable: true: its policies can never be edited again; a change needs another ConfigMap and new pods'

function isUnreadPolicy(key: string): boolean {
  return key.endsWith('.json') && isPolicyFile(key.replace(/\.json$/, '.yaml'))
}

function sizeWarnings(configMap: JsonObject): string[] {
  const bytes = sizeOf(configMap)
  const size = `the data have ${Math.round(bytes / 1024)} KiB`
  if (bytes >= NEARLY_FULL_BYTES) return [`${size} of the ${MOST_BYTES / 1024} KiB that a ConfigMap may have: split it`]
  if (bytes < LARGE_FOR_APPLY_BYTES) return []
  return [
    `${size}: kubectl apply, which keeps a copy of up to 256 KiB, will soon fail; use kubectl apply --server-side`,
  ]
}

function sizeOf(configMap: JsonObject): number {
  const texts = Object.values(mappingAt(configMap, 'data')).map(text => Buffer.byteLength(String(text)))
  const binary = Object.values(mappingAt(configMap, 'binaryData')).map(text =>
    Buffer.byteLength(String(text), 'base64'),
  )
  return [...texts, ...binary].reduce((sum, bytes) => sum + bytes, 0)
}

/** Empty where there is none, or none that is an object. */
function mappingAt(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isObject(value) ? value : {}
}
