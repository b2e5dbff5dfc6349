/** A value of the wrong type. Nothing is coerced, so every message says how to write what was probably meant. */
import { type Entry, type Finding, type Path, pathText } from './document.js'
import { formHint } from './form-hints.js'
import { allowedText, type FieldSchema, valueText } from './schema-words.js'
import { numberIn, sectionHint } from './section-hints.js'
import { type Format, fitsFormat, formatOf, unitText } from './unit-hints.js'

export function typeFinding(path: Path, value: unknown, schema: FieldSchema, entry: Entry | null): Finding {
  if (value === null) return emptyFinding(path)
  const hint = formOf(path, value, schema, entry) ?? hintFor(value, schema, entry) ?? sectionHint(path, schema, entry)
  const text = `expected ${allowedText(schema)}, got ${valueText(value, entry)}${hint === null ? '' : `: ${hint}`}`
  return { code: 'FB034', path, text }
}

/** A port alone, which is a number. */
function formOf(path: Path, value: unknown, { pattern }: FieldSchema, entry: Entry | null): string | null {
  const near = typeof value === 'number' ? formHint(path, entry?.source ?? String(value), pattern)?.suggestion : null
  return near ? `write ${near}` : null
}

function emptyFinding(path: Path): Finding {
  const last = path.at(-1)
  if (last === undefined) return { code: 'FB033', path, text: 'the document is empty' }
  const text = typeof last === 'number' ? 'this item is empty: remove it or give it a value' : emptyText(path, last)
  return { code: 'FB033', path, mark: 'key', text }
}

/** Keys that a document cannot do without. */
const REQUIRED = /^(metadata(\.name)?|spec(\.target|\.routes\[\d+\]\.(name|match|poll\.until(\.json\.pointer)?))?)$/

function emptyText(path: Path, key: string): string {
  if (!REQUIRED.test(pathText(path))) return `${key} is empty: remove the key or give it a value`
  return `${key} is empty: give it a value${key === 'match' ? ', {} for every call' : ''}`
}

function hintFor(value: unknown, schema: FieldSchema, entry: Entry | null): string | null {
  const wants = typeof schema.type === 'string' ? schema.type : null
  if (typeof value === 'string') return textHint(value, wants, entry)
  if (typeof value === 'object') return mappingHint(value, schema)
  if (typeof value === 'boolean' && schema.enum !== undefined) {
    return 'write one of the words; tools of YAML 1.1 turn on, yes, off and no into true and false'
  }
  const format = formatOf(schema)
  if (typeof value === 'number' && format !== null) return unitHint(value, format, entry)
  const source = entry?.source ?? String(value)
  if (wants === 'string' && (allowedText(schema) === 'text' || fits(source, schema))) return 'put it in quotes'
  if (wants === 'array') return `write [${source}]`
  return null
}

/** The text would be right if only it were one. */
function fits(source: string, { pattern }: FieldSchema): boolean {
  return pattern !== undefined && new RegExp(pattern).test(source)
}

/** `{id}` without quotes is a mapping of one key without a value. */
function mappingHint(value: unknown, { type }: FieldSchema): string | null {
  if (type === 'array' && !Array.isArray(value)) return 'write a list, each item after a dash'
  if (type !== 'string' || value === null || Array.isArray(value)) return null
  const keys = Object.entries(value as object)
  return keys.length === 1 && keys[0]?.[1] === null ? `put it in quotes: "{${keys[0][0]}}"` : null
}

function textHint(value: string, wants: string | null, entry: Entry | null): string | null {
  const glued = entry?.quoted ? null : (/^([\w-]+):([^\s/].*)$/.exec(value) ?? /^(-)(\w.*)$/.exec(value))
  switch (wants) {
    case 'boolean':
      if (entry?.quoted && /^(true|false)$/.test(value)) return `write ${value} without quotes`
      if (/^(on|yes|y|true)$/i.test(value)) return `${value} is text in YAML 1.2, write true`
      if (/^(off|no|n|false)$/i.test(value)) return `${value} is text in YAML 1.2, write false`
      return null
    case 'integer':
    case 'number': {
      const plain = numberIn(value, wants)
      if (plain === null) return null
      return entry?.quoted && plain === value ? `write ${plain} without quotes` : `write ${plain}`
    }
    case 'object':
      return glued?.[2] === undefined ? null : `a space is missing after the colon in ${glued[1]}:${glued[2]}`
    case 'array':
      if (glued?.[1] === '-') return 'a space is missing after the dash'
      return `write a list in brackets${/^[\w.-]+$/.test(value) ? `: [${value}]` : ''}`
    default:
      return null
  }
}

function unitHint(value: number, format: Format, entry: Entry | null): string | null {
  if (value < 0 || !/^\d+(\.\d+)?$/.test(entry?.source ?? '')) return null
  if (Number.isInteger(value)) return unitText(String(value), format)
  const inMs = `${value * 1000}ms`
  return Number.isInteger(value * 1000) && format.format !== 'size' && fitsFormat(inMs, format)
    ? `add a unit, such as ${inMs} for seconds`
    : null
}
