/** How messages speak of values: what was written, and what a schema allows there. */
import type { Entry } from './document.js'

/** The part of a JSON Schema that messages need. */
export interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly properties?: Readonly<Record<string, unknown>>
  readonly propertyNames?: FieldSchema
  readonly 'x-format'?: string
  readonly 'x-min'?: string
  readonly 'x-max'?: string
  readonly 'x-words'?: readonly string[]
  readonly 'x-allowed'?: string
}

const LONGEST = 80

export function allowedText(schema: FieldSchema): string {
  if (schema['x-allowed'] !== undefined) return schema['x-allowed']
  if (schema['x-format'] !== undefined) return formatText(schema['x-format'], schema['x-min'], schema['x-max'])
  if (schema.enum !== undefined) return listText(schema.enum)
  if (schema.const !== undefined) return String(schema.const)
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'object') return 'a mapping'
  if (schema.type === 'array') return 'a list'
  if (schema.minimum !== undefined) {
    return `${schema.type === 'integer' ? 'a whole number' : 'a number'} from ${schema.minimum} to ${schema.maximum}`
  }
  return 'text'
}

export function formatText(format: string, min: string | undefined, max: string | undefined): string {
  const example = format === 'size' ? 'a size such as 64KiB' : 'a duration such as 250ms or 1m30s'
  return `${example}, from ${min} to ${max}${OR[format] ?? ''}`
}

/** What may stand there instead. */
const OR: Readonly<Record<string, string>> = {
  'duration-or-none': ', or none',
  'duration-or-quantile': ', or a quantile from p50 to p99.9',
}

/** `a, b or c`. */
export function listText(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** The value as it was written. Credentials and the query of a URL are left out: messages go to logs. */
export function valueText(value: unknown, entry: Entry | null): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value === 'string') return `the text ${JSON.stringify(shorten(value))}`
  return shorten(entry?.source ?? String(value))
}

/** A scalar in quotes; anything larger by what it is. */
export function quote(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'a mapping'
  return JSON.stringify(shorten(String(value)))
}

/** Cut after the secrets are gone, so that no half of one stays. */
function shorten(text: string): string {
  const safe = withoutSecrets(text)
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST)}…` : safe
}

export function withoutSecrets(text: string): string {
  const bare = text.replace(/\/\/[^/?#]*@/g, '//***@')
  const scheme = bare.indexOf('://')
  const query = scheme === -1 ? -1 : bare.slice(scheme).search(/[?#]/)
  return query === -1 ? bare : `${bare.slice(0, scheme + query + 1)}***`
}
