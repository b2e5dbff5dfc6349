/** AdmissionReview of admission.k8s.io/v1, as an API server sends it and as it takes the answer. */
import type { PatchOperation } from './json-patch.js'

export const API_VERSION = 'admission.k8s.io/v1'
export const KIND = 'AdmissionReview'

export type JsonObject = Readonly<Record<string, unknown>>

export interface AdmissionRequest {
  readonly uid: string
  /** Plural, such as `pods`, with its group where it has one; `''` when it was not said. */
  readonly resource: string
  readonly subResource: string
  readonly operation: string
  readonly namespace: string
  /** `''` for an object that gets its name from `generateName` later. */
  readonly name: string
  /** `null` where the operation has none, or where it is no object. */
  readonly object: JsonObject | null
  readonly oldObject: JsonObject | null
}

/** What an API server is told of one object. */
export type Decision =
  | { readonly allowed: true; readonly patch: readonly PatchOperation[]; readonly warnings: readonly string[] }
  | { readonly allowed: false; readonly status: DenialStatus; readonly warnings: readonly string[] }

/** The parts of a `metav1.Status` that a client shows. */
export interface DenialStatus {
  readonly code: number
  /** `Invalid` makes `kubectl edit` open the editor again, with the causes on top. */
  readonly reason: 'Invalid'
  readonly message: string
  readonly details: {
    readonly kind: string
    readonly name: string
    readonly causes: readonly DenialCause[]
  }
}

export interface DenialCause {
  readonly reason: 'FieldValueInvalid'
  readonly field: string
  readonly message: string
}

export type ReadReview =
  | { readonly ok: true; readonly request: AdmissionRequest }
  /** Nobody can be answered with a review: there is no uid. */
  | { readonly ok: false; readonly error: string }

export function readReview(body: Uint8Array): ReadReview {
  if (body.length === 0) return { ok: false, error: `the request has no body; an ${KIND} is wanted` }
  let review: unknown
  try {
    review = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return { ok: false, error: 'the body is not JSON' }
  }
  if (!isObject(review)) return { ok: false, error: `the body is not an ${KIND} object` }
  const { apiVersion, kind, request } = review
  if (apiVersion !== API_VERSION || kind !== KIND) {
    return { ok: false, error: `the body is not an ${KIND} of ${API_VERSION}; no other version is spoken here` }
  }
  if (!isObject(request)) return { ok: false, error: `the ${KIND} has no request` }
  const uid = textAt(request, 'uid')
  return uid === '' ? { ok: false, error: 'the request has no uid' } : { ok: true, request: readRequest(uid, request) }
}

function readRequest(uid: string, request: JsonObject): AdmissionRequest {
  const { object, oldObject } = request
  return {
    uid,
    resource: resourceName(request['resource']),
    subResource: textAt(request, 'subResource'),
    operation: textAt(request, 'operation'),
    namespace: textAt(request, 'namespace'),
    name: textAt(request, 'name'),
    object: isObject(object) ? object : null,
    oldObject: isObject(oldObject) ? oldObject : null,
  }
}

function resourceName(resource: unknown): string {
  if (!isObject(resource)) return ''
  const group = textAt(resource, 'group')
  const name = textAt(resource, 'resource')
  return group === '' ? name : `${name}.${group}`
}

/** The whole answer. A patch and its type go together or not at all. */
export function answerReview(uid: string, decision: Decision): string {
  const { allowed } = decision
  const warnings = boundWarnings(decision.warnings)
  const patch = decision.allowed && decision.patch.length > 0 ? decision.patch : null
  const response = {
    uid,
    allowed,
    ...(patch !== null && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
    ...(!decision.allowed && { status: { status: 'Failure', ...decision.status } }),
    ...(warnings.length > 0 && { warnings }),
  }
  return JSON.stringify({ apiVersion: API_VERSION, kind: KIND, response })
}

/** Where all of a request have more than 4096 characters together, an API server cuts each to 256. */
const WARNING_BYTES = 1000
const ALL_WARNINGS_BYTES = 3500

/** As a `Warning` header can carry them: of one line, without control characters, and not too many. */
function boundWarnings(warnings: readonly string[]): string[] {
  const kept: string[] = []
  let bytes = 0
  for (const warning of warnings) {
    const text = cutToBytes(oneLine(warning), WARNING_BYTES)
    bytes += Buffer.byteLength(text)
    if (bytes > ALL_WARNINGS_BYTES) return [...kept, `and ${warnings.length - kept.length} more`]
    kept.push(text)
  }
  return kept
}

/** Half a surrogate pair is no UTF-8. */
function oneLine(text: string): string {
  return Buffer.from(text)
    .toString()
    .replaceAll(/\p{Cc}+/gu, ' ')
}

/** Ends in `…` where something is missing. */
export function cutToBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  let end = most - Buffer.byteLength('…')
  // Not inside of a character: its further bytes are 10xxxxxx.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}…`
}

export function allow(...warnings: readonly string[]): Decision {
  return { allowed: true, patch: [], warnings }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of a field; `''` where there is none. */
export function textAt(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}
