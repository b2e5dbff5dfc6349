/** Durations and sizes: the schema knows where they stand, only the parsers know what they are. */
import { type Finding, type Path, valueAt } from './document.js'
import { parseDurationMs } from './duration.js'
import { type FieldFormat, SECTION_FIELDS } from './generated/fields.js'
import { parseQuantile } from './quantile.js'
import { formatText, quote } from './schema-words.js'
import { parseSizeBytes } from './size.js'
import { durationMeant, fitsFormat, sizeMeant, unitText } from './unit-hints.js'

interface Checked extends FieldFormat {
  readonly path: Path
  /** In ms or bytes. */
  readonly lowest: number
  readonly highest: number
}

const CHECKED: readonly Checked[] = Object.entries(SECTION_FIELDS).flatMap(([path, format]) => {
  if (format === null) return []
  const parse = parserOf(format)
  return [{ ...format, path: path.split('.'), lowest: parse(format.min) ?? 0, highest: parse(format.max) ?? 0 }]
})

/** Of the sections at `at` and of the routes within. */
export function formatFindings(root: unknown, at: Path): Finding[] {
  const spec = valueAt(root, at)
  const findings = CHECKED.flatMap(field => check(spec, field, at))
  const routes = valueAt(spec, ['routes'])
  if (!Array.isArray(routes)) return findings
  return [
    ...findings,
    ...routes.flatMap((route, index) => CHECKED.flatMap(field => check(route, field, [...at, 'routes', index]))),
  ]
}

function check(sections: unknown, field: Checked, at: Path): Finding[] {
  const value = valueAt(sections, field.path)
  // Any other type is the schema's business.
  if (typeof value !== 'string' || (value === 'none' && field.format === 'duration-or-none')) return []
  if (field.format === 'duration-or-quantile' && parseQuantile(value) !== null) return []
  const path = [...at, ...field.path]
  const parsed = parserOf(field)(value)
  const allowed = formatText(field.format, field.min, field.max)
  if (parsed === null) return [wrongForm(field, path, value, allowed)]
  if (parsed >= field.lowest && parsed <= field.highest) return []
  const hint = parsed === 0 && field.format === 'duration-or-none' ? '; write none for no limit' : ''
  return [{ code: 'FB036', path, text: `${value} is out of range: ${allowed}${hint}` }]
}

function wrongForm(field: Checked, path: Path, value: string, allowed: string): Finding {
  const text = `${quote(value)} is not ${allowed}`
  const unit = /^\d+$/.test(value) ? unitText(value, field) : null
  if (unit !== null) return { code: 'FB037', path, text: `${text}; ${unit}` }
  const meant = field.format === 'size' ? sizeMeant(value) : durationMeant(value, field.format === 'duration-or-none')
  return { code: 'FB037', path, text, suggestion: meant !== null && fitsFormat(meant, field) ? meant : null }
}

function parserOf({ format }: FieldFormat): (text: string) => number | null {
  return format === 'size' ? parseSizeBytes : parseDurationMs
}
