import { at, isFields, isList } from './fields.js'
import { INJECTED_ANNOTATION } from './names.js'
import type { Fields, PodMeta, SidecarForm } from './types.js'

export interface RecordEntry {
  /** The collection, by names: `spec/containers/web/env`. */
  readonly in: string
  readonly names: readonly string[]
  /** How many collections, counted from the innermost, were not there before. */
  readonly new?: number
  /** The outermost of those was not absent but null, in this spelling. */
  readonly null?: string
}

/** The value of `forbear.dev/injected`. */
export interface InjectedRecord {
  readonly form: SidecarForm
  /** Absent: by the command. */
  readonly by?: 'webhook'
  readonly added: readonly RecordEntry[]
}

export function isInjected(meta: PodMeta | null | undefined): boolean {
  return at(meta, ['annotations', INJECTED_ANNOTATION]) !== undefined
}

export function encodeRecord(record: InjectedRecord): string {
  return JSON.stringify({ v: 1, ...record })
}

/** `null`: not one of ours, or edited by hand. */
export function decodeRecord(meta: PodMeta | null | undefined): InjectedRecord | null {
  const text = at(meta, ['annotations', INJECTED_ANNOTATION])
  if (typeof text !== 'string') return null
  const value = parsed(text)
  if (!isFields(value) || value.v !== 1 || !isForm(value.form) || !isList(value.added)) return null
  const by = value.by === 'webhook' ? ({ by: 'webhook' } as const) : {}
  return value.added.every(isEntry) ? { form: value.form, ...by, added: value.added } : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isForm(value: unknown): value is SidecarForm {
  return value === 'native' || value === 'classic'
}

function isEntry(value: unknown): value is RecordEntry & Fields {
  if (!isFields(value) || typeof value.in !== 'string' || !isList(value.names)) return false
  const made = value.new
  return (
    value.names.every(name => typeof name === 'string') &&
    (made === undefined || (typeof made === 'number' && made >= 1 && made <= value.in.split('/').length)) &&
    (value.null === undefined || (made !== undefined && NULLS.includes(value.null)))
  )
}

const NULLS: readonly unknown[] = ['', '~', 'null', 'Null', 'NULL']
