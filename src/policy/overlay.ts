/**
 * Where a setting comes from. Layers lie on each other, later wins: built-in, Policy `default`, the Policy of `policyRef`,
 * Upstream, route. Mappings merge field by field; lists and scalars replace.
 */
import { BUILT_IN } from './defaults.js'
import { type ParsedDocument, type Path, pathText, valueAt } from './document.js'
import { SECTION_FIELDS } from './generated/fields.js'

export interface Layer {
  /** `Policy careful`, `Upstream payments`, `route place-order`. */
  readonly label: string
  /** Higher ones lie on top. */
  readonly rank: number
  readonly document: ParsedDocument
  /** Where its sections stand in the document. */
  readonly at: Path
  /** Paths (as text) that messages have been written about: their values are not to be used. */
  readonly faults: ReadonlySet<string>
}

export interface Field {
  /** As written, or as `BUILT_IN` has it. */
  readonly value: unknown
  /** `null` = built-in. */
  readonly layer: Layer | null
  /** From the top of the layer's document. */
  readonly path: Path
  /** What the layer wrote here is wrong and has its own message; `value` is the one below. */
  readonly faulty?: true
}

/** `retry.backoff.base` → its value; header names in lower case after the path of such a mapping. */
export type Fields = ReadonlyMap<string, Field>

/** Mappings of header names; each name is a field of its own. */
export const HEADER_MAPPINGS: ReadonlySet<string> = new Set(['retry.onHeaders', 'fallback.headers'])
const FIELDS: readonly (readonly [string, readonly string[]])[] = Object.keys(SECTION_FIELDS).map(name => [
  name,
  name.split('.'),
])

export const BUILT_IN_FIELDS: Fields = new Map(
  FIELDS.flatMap(([name, path]): [string, Field][] => {
    const value = valueAt(BUILT_IN, path)
    return value === undefined || HEADER_MAPPINGS.has(name) ? [] : [[name, { value, layer: null, path }]]
  }),
)

/** The fields below with those that the layer wrote laid over them. */
export function overlay(below: Fields, layer: Layer): Fields {
  const sections = valueAt(layer.document.root, layer.at)
  if (typeof sections !== 'object' || sections === null) return below
  const fields = new Map(below)
  switchOn(fields, layer, sections)
  for (const [name, path] of FIELDS) {
    const value = valueAt(sections, path)
    if (value === undefined) continue
    if (HEADER_MAPPINGS.has(name)) addHeaders(fields, layer, name, path, value)
    else add(fields, layer, name, path, value)
  }
  return fields
}

function add(fields: Map<string, Field>, layer: Layer, name: string, below: Path, value: unknown): void {
  const path = [...layer.at, ...below]
  const faulty = isFaulty(layer.faults, path)
  fields.set(name, faulty ? { value: fields.get(name)?.value, layer, path, faulty } : { value, layer, path })
}

/** What is off unless it is written, and the mode that writing it means. */
const SWITCHES: readonly (readonly [string, string, (section: object) => string])[] = [
  ['hedge', 'mode', () => 'enabled'],
  ['throttle', 'mode', () => 'enabled'],
  ['park', 'accept', () => 'prefer'],
  ['pace', 'mode', section => ('rate' in section || 'burst' in section ? 'fixed' : 'auto')],
]

/** Who writes such a section wants it, unless some layer has said in what mode. */
function switchOn(fields: Map<string, Field>, layer: Layer, sections: object): void {
  for (const [name, key, modeOf] of SWITCHES) {
    const section = valueAt(sections, [name])
    if (typeof section !== 'object' || section === null || fields.get(`${name}.${key}`)?.layer !== null) continue
    fields.set(`${name}.${key}`, { value: modeOf(section), layer, path: [...layer.at, name] })
  }
}

function addHeaders(fields: Map<string, Field>, layer: Layer, name: string, path: Path, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [header, wanted] of Object.entries(value)) {
    add(fields, layer, `${name}.${header.toLowerCase()}`, [...path, header], wanted)
  }
}

/** Among the faults: no value of the document is to be used. The text of the empty path. */
export const WHOLE = ''

/** A message was written about the field, or about what it stands in. */
export function isFaulty(faults: ReadonlySet<string>, path: Path): boolean {
  if (faults.size === 0) return false
  if (faults.has(WHOLE)) return true
  for (let length = 1; length <= path.length; length++) {
    if (faults.has(pathText(path.slice(0, length)))) return true
  }
  return false
}

/** As `isFaulty`, or about something in it. */
export function isTouched(faults: ReadonlySet<string>, path: Path): boolean {
  const at = pathText(path)
  return (
    isFaulty(faults, path) || [...faults].some(fault => fault.startsWith(at) && /^[.[]/.test(fault.slice(at.length)))
  )
}
