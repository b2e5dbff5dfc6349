/** What the generated validators object to, one finding per mistake. */
import type { ErrorObject } from 'ajv'
import { entryAt, type Finding, type ParsedDocument, type Path, valueAt } from './document.js'
import { type Draft, withoutEchoes } from './echoes.js'
import { formHint } from './form-hints.js'
import { nearest } from './nearest.js'
import { allowedText, type FieldSchema, listText, quote } from './schema-words.js'
import { numberIn } from './section-hints.js'
import { statusesMeant } from './status-hints.js'
import { synonym } from './synonyms.js'
import { typeFinding } from './type-findings.js'
import { unknownKeyFinding } from './unknown-key.js'
import { MOST_ERRORS } from './yaml-stream.js'

/** One value can break several rules at once; the first of these is the one to speak of. */
const ORDER = ['type', 'const', 'enum', 'pattern']

export function schemaFindings(document: ParsedDocument, errors: readonly ErrorObject[]): Finding[] {
  const worst = new Map<string, ErrorObject>()
  for (const error of errors.slice(0, MOST_ERRORS)) {
    // Told by the propertyNames error around it.
    if (error.propertyName !== undefined) continue
    const subject = `${error.instancePath}\0${subjectKey(error)}`
    const other = worst.get(subject)
    if (other === undefined || rank(error) < rank(other)) worst.set(subject, error)
  }
  const drafts = [...worst.values()].flatMap(error => twinFindings(document, error) ?? [finding(document, error)])
  return withoutEchoes(drafts.slice(0, MOST_ERRORS))
}

/** Every item that an earlier one equals: the validator stops at the first pair. */
function twinFindings(document: ParsedDocument, { keyword, instancePath, data }: ErrorObject): Finding[] | null {
  if (keyword !== 'uniqueItems' || !Array.isArray(data)) return null
  const path = pathOf(document.root, instancePath)
  const seen = new Set<unknown>()
  return data
    .flatMap((item, index): Finding[] => {
      if (!seen.has(item)) seen.add(item)
      else return [{ code: 'FB038', path: [...path, index], text: TWICE }]
      return []
    })
    .slice(0, MOST_ERRORS)
}

export const TWICE = 'this item is in the list twice'

function rank({ keyword }: ErrorObject): number {
  const at = ORDER.indexOf(keyword)
  return at === -1 ? ORDER.length : at
}

/** Keys of one mapping are mistakes of their own. */
function subjectKey({ params }: ErrorObject): string {
  return String(params['additionalProperty'] ?? params['missingProperty'] ?? params['propertyName'] ?? '')
}

function finding(document: ParsedDocument, error: ErrorObject): Draft {
  const path = pathOf(document.root, error.instancePath)
  const schema = (error.parentSchema ?? {}) as FieldSchema
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(error.params['additionalProperty'])
      const value = valueAt(document.root, [...path, key])
      const bare = value === null && entryAt(document, [...path, key])?.source === null
      const after = bare ? keyBefore(document, path, key) : undefined
      return unknownKeyFinding(path, key, value, Object.keys(schema.properties ?? {}), after)
    }
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
      return { code: 'FB036', path, text: `${data} is out of range: ${allowed}${percentHint(path, data)}` }
    case 'minLength':
      return { code: 'FB037', path, text: 'the text is empty' }
    case 'maxLength':
      return { code: 'FB037', path, text: `the text is longer than ${params['limit']} characters` }
    case 'minItems':
    case 'maxItems':
    case 'maxProperties':
      return { code: 'FB038', path, text: countText(data, keyword, params['limit'], schema) }
    default:
      return patternFinding(path, data, schema)
  }
}

/** A share that was written in percent. */
function percentHint(path: Path, data: unknown): string {
  const isShare = /ratio$/i.test(String(path.at(-1))) && typeof data === 'number' && data > 1 && data <= 100
  return isShare ? `; ${data} % is ${data / 100}` : ''
}

function patternFinding(path: Path, data: unknown, schema: FieldSchema): Finding {
  const text = `${quote(data)} is not ${allowedText(schema)}`
  // Where numbers are allowed too, a quoted one is a number that was meant.
  const number = schema.type?.includes('integer') ? numberIn(String(data), 'integer') : null
  if (number !== null) {
    return { code: 'FB034', path, text: `${text}; write ${number}${number === data ? ' without quotes' : ''}` }
  }
  const hint = formHint(path, String(data), schema.pattern)
  if (hint !== null) {
    const own = hint.fault === null ? text : `${quote(data)} ${hint.fault}`
    return { code: 'FB037', path, text: own, suggestion: hint.suggestion }
  }
  const words = schema['x-words'] ?? []
  const statuses = words.includes('connect') ? statusesMeant(String(data)) : null
  const suggestion = statuses ?? nearWord(data, words) ?? lowerCase(data, schema)
  return { code: 'FB037', path, text, suggestion }
}

/** Names: `My_Service` → `my-service`. */
function lowerCase(data: unknown, { pattern = '' }: FieldSchema): string | null {
  const name = String(data)
    .toLowerCase()
    .replace(/[_\s.]+/g, '-')
  return pattern.startsWith('^[a-z0-9](') && new RegExp(pattern).test(name) ? name : null
}

function nearWord(data: unknown, words: readonly string[]): string | null {
  return synonym(String(data), words) ?? nearest(String(data), words)
}

function countText(data: unknown, keyword: string, limit: unknown, schema: FieldSchema): string {
  if (schema['x-allowed'] !== undefined) return `must be ${schema['x-allowed']}`
  const count = Object.keys(data as object).length
  return `has ${count} entries; ${keyword === 'minItems' ? `at least ${limit} are needed` : `at most ${limit} are allowed`}`
}

/** As they were written: an object has its keys in another order where they are digits. */
function keyBefore(document: ParsedDocument, path: Path, key: string): string | null {
  const mapping = valueAt(document.root, path) as object
  const keys = [...(document.entries.get(mapping)?.keys() ?? [])]
  return keys[keys.indexOf(key) - 1] ?? null
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
