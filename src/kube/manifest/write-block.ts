import { isFields, isList } from '../inject/fields.js'

export interface BlockStyle {
  /** Of a map within a map, in columns. */
  readonly step: number
  /** Of the dashes below their key: 0 or more. */
  readonly dash: number
}

/** Lines without their breaks. `column` is where the keys of a map or the dashes of a list stand. */
export function blockLines(value: unknown, column: number, style: BlockStyle): readonly string[] {
  if (isList(value)) return value.flatMap(item => itemLines(item, column, style))
  const entries = Object.entries(isFields(value) ? value : {})
  return entries.flatMap(([key, inner]) => entryLines(key, inner, column, style))
}

function itemLines(item: unknown, column: number, style: BlockStyle): readonly string[] {
  const dash = `${' '.repeat(column)}- `
  if (!isCollection(item)) return [dash + scalar(item)]
  const [first = '', ...rest] = blockLines(item, column + 2, style)
  return [dash + first.trimStart(), ...rest]
}

export function entryLines(key: string, value: unknown, column: number, style: BlockStyle): readonly string[] {
  const head = `${' '.repeat(column)}${scalar(key)}:`
  if (!isCollection(value)) return [`${head} ${scalar(value)}`]
  return [head, ...blockLines(value, column + (isList(value) ? style.dash : style.step), style)]
}

/** Empty collections are not written here. */
function isCollection(value: unknown): boolean {
  return isList(value) || isFields(value)
}

/** Plain only what neither YAML 1.1 nor 1.2 takes for anything but text. */
function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (PLAIN.test(value) && !WORDS.test(value)) return value
  return value.includes('"') && PRINTABLE.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value)
}

const PLAIN = /^(?:(?:--)?[A-Za-z/](?:[\w./@-]|:(?=[\w/]))*|\d+(?:m|s|[KMGT]i?))$/
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i
const PRINTABLE = /^[\x20-\x7e]*$/
