/** Every setting in force for an upstream or one of its routes, and where it was written. */
import { placeOf, valueAt } from './document.js'
import { SECTION_FIELDS } from './generated/fields.js'
import { type Field, type Fields, HEADER_MAPPINGS } from './overlay.js'
import { readDocuments } from './read-documents.js'
import { PolicyLayers } from './resolve.js'
import type { PolicySource } from './source.js'

export interface EffectiveField {
  /** `retry.backoff.base`. */
  readonly path: string
  /** As written, or the default. */
  readonly value: unknown
  readonly origin:
    | { readonly kind: 'built-in' }
    | {
        readonly kind: 'file'
        readonly file: string
        readonly line: number
        readonly col: number
        /** `Policy default`, `Upstream payments`, `route place-order`. */
        readonly from: string
      }
}

/**
 * In the order of the schemas; `null` when the set has no such upstream, or the upstream no such route. Meant for a set
 * that loads: of an invalid one, what is wrong is left out.
 */
export function explainPolicy(
  source: PolicySource,
  upstreamName: string,
  routeName: string | null,
): EffectiveField[] | null {
  const { judged } = readDocuments(source)
  const upstream = judged.find(({ kind, name }) => kind === 'Upstream' && name === upstreamName)
  if (upstream === undefined) return null
  const { effective } = new PolicyLayers(judged).resolve(upstream)
  if (routeName === null) return listed(effective.fields, false)
  const routes = valueAt(upstream.document.root, ['spec', 'routes'])
  const index = Array.isArray(routes) ? routes.findIndex(route => valueAt(route, ['name']) === routeName) : -1
  const route = effective.routes[index]
  return route === undefined ? null : listed(route.fields, true)
}

/** `file:line` of every route of an upstream, by name. */
export function routePlaces(source: PolicySource, upstreamName: string): Map<string, string> {
  const upstream = readDocuments(source).judged.find(({ kind, name }) => kind === 'Upstream' && name === upstreamName)
  const routes = upstream === undefined ? undefined : valueAt(upstream.document.root, ['spec', 'routes'])
  if (upstream === undefined || !Array.isArray(routes)) return new Map()
  return new Map(
    routes.map((route, index) => {
      const { file, line } = placeOf(upstream.document, ['spec', 'routes', index])
      return [String(valueAt(route, ['name'])), `${file}:${line}`]
    }),
  )
}

function listed(fields: Fields, isRoute: boolean): EffectiveField[] {
  return Object.keys(SECTION_FIELDS).flatMap(name => {
    if (HEADER_MAPPINGS.has(name)) return headers(fields, name)
    if (!isRoute && (name === 'longPoll' || name.startsWith('poll.'))) return []
    // Without a clock of its own, an attempt has that of the request.
    const field = fields.get(name) ?? fields.get(name === 'timeouts.attempt' ? 'timeouts.total' : '')
    return field === undefined || field.faulty ? [] : [explained(name, field)]
  })
}

function headers(fields: Fields, mapping: string): EffectiveField[] {
  const written = [...fields].filter(([name, { faulty }]) => name.startsWith(`${mapping}.`) && !faulty)
  if (written.length === 0) return [{ path: mapping, value: {}, origin: { kind: 'built-in' } }]
  return written.map(([name, field]) => explained(name, field))
}

function explained(path: string, { value, layer, path: at }: Field): EffectiveField {
  if (layer === null) return { path, value, origin: { kind: 'built-in' } }
  return { path, value, origin: { kind: 'file', ...placeOf(layer.document, at), from: layer.label } }
}
