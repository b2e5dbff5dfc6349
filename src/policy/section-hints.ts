/** What somebody meant who wrote one value, or a switch, in the place of a section. */
import type { Entry, Path } from './document.js'
import type { FieldSchema } from './schema-words.js'
import { synonym } from './synonyms.js'
import { addedUnit, fitsFormat } from './unit-hints.js'

/** The key that a section most likely stands for. */
const MAIN_KEYS: Readonly<Record<string, string>> = {
  retry: 'maxAttempts',
  timeouts: 'total',
  budget: 'ratio',
  breaker: 'mode',
  throttle: 'mode',
  pace: 'mode',
  fault: 'percent',
  park: 'store',
  slowCall: 'after',
  hedge: 'after',
  fallback: 'when',
  backoff: 'base',
  throttled: 'base',
  retryAfter: 'cap',
  pool: 'maxConnections',
  limits: 'maxInFlight',
  match: 'pathPrefix',
  metadata: 'name',
}

/** What turns a section off; the others cannot be turned off. */
const OFF: Readonly<Record<string, string>> = {
  retry: 'maxAttempts: 1',
  timeouts: 'total: none',
  breaker: 'mode: disabled',
  throttle: 'mode: disabled',
  pace: 'mode: disabled',
  fault: 'percent: 0',
  slowCall: 'after: none',
  hedge: 'mode: disabled',
  park: 'accept: never',
}

const ALWAYS_ON = new Set(['retry', 'timeouts', 'budget', 'backoff', 'throttled', 'retryAfter', 'pool', 'limits'])
const NO = /^(off|no|n|false|none|never|disabled?)$/i
const YES = /^(on|yes|y|true|enabled?|default)$/i

/** For `section: value` where `section: { key: value }` is right. */
export function sectionHint(path: Path, schema: FieldSchema, entry: Entry | null): string | null {
  const source = entry?.source ?? null
  if (schema.type !== 'object' || source === null) return null
  const section = String(path.at(-1))
  const key = MAIN_KEYS[section]
  if (NO.test(source) && (OFF[section] !== undefined || ALWAYS_ON.has(section))) {
    return OFF[section] === undefined ? `${section} cannot be turned off; remove the key` : `write { ${OFF[section]} }`
  }
  if (YES.test(source) && ALWAYS_ON.has(section)) return `${section} is on without it; remove the key`
  const equal = equalSign(source, schema)
  if (equal !== null) return equal
  if (section === 'backoff' || section === 'throttled') {
    const kind = synonym(source, KINDS) ?? KINDS.find(known => known === source)
    if (kind !== undefined) return `write { kind: ${kind} }`
  }
  const field = key === undefined ? undefined : (schema.properties?.[key] as FieldSchema | undefined)
  if (field === undefined) return null
  const value = valueFor(source, field)
  return value === null ? null : `write { ${key}: ${value} }`
}

const KINDS = ['exponential', 'linear', 'fixed']

/** `key = value` below the section, as in TOML. */
function equalSign(source: string, { properties = {} }: FieldSchema): string | null {
  const [, key = '', value] = /^([A-Za-z]\w*) *=>? *([^\s=]+)$/.exec(source) ?? []
  if (value === undefined || !Object.hasOwn(properties, key)) return null
  return `a key and its value are parted by a colon, write ${key}: ${value}`
}

/** The value as `field` takes it, or `null` where it takes none like it. */
function valueFor(source: string, field: FieldSchema): string | null {
  const format = field['x-format']
  if (format !== undefined) {
    const limits = { format, min: field['x-min'] ?? '', max: field['x-max'] ?? '' }
    if (fitsFormat(source, limits)) return source
    return /^\d+$/.test(source) ? (addedUnit(source, limits)[0] ?? null) : null
  }
  if (field.enum !== undefined) return synonym(source, field.enum) ?? field.enum.find(word => word === source) ?? null
  const whole = field.type?.includes('integer') === true
  if (field.pattern !== undefined && new RegExp(field.pattern).test(source)) return source
  if (field.pattern !== undefined && !whole) return null
  const plain = numberIn(source, whole ? 'integer' : 'number')
  const number = plain === null ? Number.NaN : Number(plain)
  if (whole && !Number.isInteger(number)) return null
  return number >= (field.minimum ?? 0) && number <= (field.maximum ?? 0) ? plain : null
}

/** `1_000` → `1000`, `20%` → `0.2`. */
export function numberIn(value: string, wants: string): string | null {
  const plain = value.replaceAll('_', '')
  if (/^-?\d+(\.\d+)?$/.test(plain)) return plain
  const [, percent] = /^(\d+(?:\.\d+)?) *%$/.exec(value) ?? []
  return percent === undefined || wants === 'integer' ? null : String(Number(percent) / 100)
}

/** Of `enabled` and the like in a section that has no such key; `null` for any other key. */
export function switchText(parent: Path, key: string, value: unknown): string | null {
  const word = key.toLowerCase()
  const section = String(parent.at(-1))
  if (!['enabled', 'enable', 'disabled', 'disable'].includes(word) || section === 'breaker') return null
  const off = NO.test(String(value)) !== word.startsWith('dis')
  if (!ALWAYS_ON.has(section) && (!off || OFF[section] === undefined)) return 'there is no such switch; remove it'
  if (!off) return `there is no such switch, ${section} is on without it; remove it`
  if (OFF[section] === undefined) return `there is no such switch, ${section} cannot be turned off; remove it`
  const what = section === 'retry' ? 'retries' : section
  return `there is no such switch; to turn ${what} off, write ${OFF[section]}`
}
