/** A value of the wrong type. Nothing is coerced, so every message says how to write what was probably meant. */
import type { Entry, Finding, Path } from './document.js'
import { allowedText, type FieldSchema, valueText } from './schema-words.js'

export function typeFinding(path: Path, value: unknown, schema: FieldSchema, entry: Entry | null): Finding {
  if (value === null) return emptyFinding(path)
  const hint = hintFor(value, schema, entry)
  const text = `expected ${allowedText(schema)}, got ${valueText(value, entry)}${hint === null ? '' : `: ${hint}`}`
  return { code: 'FB034', path, text }
}

function emptyFinding(path: Path): Finding {
  const last = path.at(-1)
  if (last === undefined) return { code: 'FB033', path, text: 'the document is empty' }
  const text = typeof last === 'number' ? 'this item is empty: remove it or give it a value' : null
  return { code: 'FB033', path, mark: 'key', text: text ?? `${last} is empty: remove the key or give it a value` }
}

function hintFor(value: unknown, schema: FieldSchema, entry: Entry | null): string | null {
  const wants = typeof schema.type === 'string' ? schema.type : null
  if (typeof value === 'string') return textHint(value, wants, entry)
  if (typeof value === 'boolean' && schema.enum !== undefined) {
    return 'write one of the words; tools of YAML 1.1 turn on, yes, off and no into true and false'
  }
  if (typeof value === 'number' && schema['x-format'] !== undefined) return unitHint(value, schema['x-format'], entry)
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  if (wants === 'string' && isScalar && allowedText(schema) === 'text') return 'put it in quotes'
  if (wants === 'array' && isScalar) return `write [${entry?.source ?? value}]`
  return null
}

function textHint(value: string, wants: string | null, entry: Entry | null): string | null {
  switch (wants) {
    case 'boolean':
      if (/^(on|yes|y|true)$/i.test(value)) return `${value} is text in YAML 1.2, write true`
      if (/^(off|no|n|false)$/i.test(value)) return `${value} is text in YAML 1.2, write false`
      return null
    case 'integer':
    case 'number': {
      const plain = value.replaceAll('_', '')
      if (!/^-?\d+(\.\d+)?$/.test(plain)) return null
      return entry?.quoted ? `write ${plain} without quotes` : `write ${plain}`
    }
    case 'array':
      return 'write a list in brackets'
    default:
      return null
  }
}

function unitHint(value: number, format: string, entry: Entry | null): string | null {
  if (!Number.isInteger(value) || value < 0 || /[^\d]/.test(entry?.source ?? '')) return null
  return format === 'size' ? `add a unit, such as ${value}KiB` : `add a unit, such as ${value}s or ${value}ms`
}
