/** What the generated validators object to, one finding per mistake. */
import type { ErrorObject } from 'ajv'
import { entryAt, type Finding, type ParsedDocument, type Path, valueAt } from './document.js'
import { nearest } from './nearest.js'
import { allowedText, type FieldSchema, listText, quote } from './schema-words.js'
import { typeFinding } from './type-findings.js'
import { unknownKeyFinding } from './unknown-key.js'

/** One value can break several rules at once; the first of these is the one to speak of. */
const ORDER = ['type', 'const', 'enum', 'pattern']

export function schemaFindings(document: ParsedDocument, errors: readonly ErrorObject[]): Finding[] {
  const worst = new Map<string, ErrorObject>()
  for (const error of errors) {
    // Told by the propertyNames error around it.
    if (error.propertyName !== undefined) continue
    const subject = `${error.instancePath}\0${subjectKey(error)}`
    const other = worst.get(subject)
    if (other === undefined || rank(error) < rank(other)) worst.set(subject, error)
  }
  const findings = [...worst.values()].map(error => finding(document, error))
  return withoutEchoes(findings)
}

/** `tagret` is one mistake, not an unknown key and a missing one. */
function withoutEchoes(findings: Finding[]): Finding[] {
  const renamed = new Set(
    findings.flatMap(({ suggestion, path }) =>
      suggestion ? [JSON.stringify([...path.slice(0, -1), suggestion])] : [],
    ),
  )
  return findings.filter(({ code, path }) => code !== 'FB032' || !renamed.has(JSON.stringify(path)))
}

function rank({ keyword }: ErrorObject): number {
  const at = ORDER.indexOf(keyword)
  return at === -1 ? ORDER.length : at
}

/** Keys of one mapping are mistakes of their own. */
function subjectKey({ params }: ErrorObject): string {
  return String(params['additionalProperty'] ?? params['missingProperty'] ?? params['propertyName'] ?? '')
}

function finding(document: ParsedDocument, error: ErrorObject): Finding {
  const path = pathOf(document.root, error.instancePath)
  const schema = (error.parentSchema ?? {}) as FieldSchema
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKeyFinding(path, String(error.params['additionalProperty']), Object.keys(schema.properties ?? {}))
    case 'required': {
      const key = String(error.params['missingProperty'])
      return { code: 'FB032', path: [...path, key], text: `${key} is missing` }
    }
    case 'propertyNames': {
      const name = String(error.params['propertyName'])
      const text = `${quote(name)} is not ${allowedText(schema.propertyNames ?? {})}`
      return { code: 'FB037', path: [...path, name], mark: 'key', text }
    }
    case 'type':
      return typeFinding(path, error.data, schema, entryAt(document, path))
    default:
      return valueFinding(path, error, schema)
  }
}

function valueFinding(path: Path, { keyword, data, params }: ErrorObject, schema: FieldSchema): Finding {
  const allowed = allowedText(schema)
  switch (keyword) {
    case 'const':
    case 'enum': {
      const words = schema.enum ?? [String(schema.const)]
      return {
        code: 'FB035',
        path,
        text: `${quote(data)} is not ${listText(words)}`,
        suggestion: nearWord(data, words),
      }
    }
    case 'minimum':
    case 'maximum':
      if (path.at(-1) === 'maxAttempts' && data === 0) {
        const text = '0 would be no call at all: write 1, the first attempt counts'
        return { code: 'FB036', path, text }
      }
      return { code: 'FB036', path, text: `${data} is out of range: ${allowed}` }
    case 'minLength':
      return { code: 'FB037', path, text: 'the text is empty' }
    case 'maxLength':
      return { code: 'FB037', path, text: `the text is longer than ${params['limit']} characters` }
    case 'minItems':
    case 'maxItems':
    case 'maxProperties':
      return { code: 'FB038', path, text: countText(data, keyword, params['limit'], schema) }
    case 'uniqueItems':
      return {
        code: 'FB038',
        path: [...path, Math.max(params['i'], params['j'])],
        text: 'this item is in the list twice',
      }
    default:
      return patternFinding(path, data, schema)
  }
}

function patternFinding(path: Path, data: unknown, schema: FieldSchema): Finding {
  const text = `${quote(data)} is not ${allowedText(schema)}`
  // Where numbers are allowed too, a quoted one is a number that was meant.
  if (schema.type?.includes('integer') && /^\d+$/.test(String(data))) {
    return { code: 'FB034', path, text: `${text}; write ${data} without quotes` }
  }
  return { code: 'FB037', path, text, suggestion: nearWord(data, schema['x-words'] ?? []) }
}

const OFF = /^(off|no|false|none)$/i
const ON = /^(on|yes|true)$/i

function nearWord(data: unknown, words: readonly string[]): string | null {
  const text = String(data)
  const plain = OFF.test(text) ? 'disabled' : ON.test(text) ? 'enforce' : null
  return plain !== null && words.includes(plain) ? plain : nearest(text, words)
}

function countText(data: unknown, keyword: string, limit: unknown, schema: FieldSchema): string {
  if (schema['x-allowed'] !== undefined) return `must be ${schema['x-allowed']}`
  const count = Object.keys(data as object).length
  return `has ${count} entries; ${keyword === 'minItems' ? `at least ${limit} are needed` : `at most ${limit} are allowed`}`
}

/** A JSON pointer; indices become numbers where the value is a list. */
function pathOf(root: unknown, pointer: string): Path {
  const path: (string | number)[] = []
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(valueAt(root, path)) ? Number(key) : key)
  }
  return path
}
