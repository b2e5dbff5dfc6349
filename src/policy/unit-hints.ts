/** Durations and sizes as other tools write them, in the form that policies have. */
import { parseDurationMs } from './duration.js'
import { durationText } from './duration-text.js'
import { parseQuantile } from './quantile.js'
import type { FieldSchema } from './schema-words.js'
import { parseSizeBytes } from './size.js'

export interface Format {
  readonly format: string
  readonly min: string
  readonly max: string
}

/** Of a duration or size; `null` for other fields. */
export function formatOf(schema: FieldSchema): Format | null {
  const { 'x-format': format, 'x-min': min = '', 'x-max': max = '' } = schema
  return format === undefined ? null : { format, min, max }
}

export function fitsFormat(text: string, { format, min, max }: Format): boolean {
  if (text === 'none') return format === 'duration-or-none'
  if (format === 'duration-or-quantile' && parseQuantile(text) !== null) return true
  const parse = format === 'size' ? parseSizeBytes : parseDurationMs
  const [value, lowest, highest] = [text, min, max].map(parse)
  return value !== null && value !== undefined && value >= (lowest ?? 0) && value <= (highest ?? 0)
}

/** The number with each unit that makes it a value of the field, the likeliest first. */
export function addedUnit(digits: string, format: Format): string[] {
  const count = Number(digits)
  const large = count >= 1000
  const units = format.format === 'size' ? sizesOf(digits, count) : [`${digits}s`, `${digits}ms`]
  const ordered = format.format !== 'size' && large ? units.toReversed() : units
  return ordered.filter(text => fitsFormat(text, format))
}

/** 1024 and more are bytes that somebody counted. */
function sizesOf(digits: string, count: number): string[] {
  if (count < 1024) return count === 0 ? ['0B'] : [`${digits}KiB`]
  const [name, size] = SIZES.find(([, bytes]) => count % bytes === 0) ?? ['B', 1]
  return [`${count / size}${name}`]
}

/** For a number that lacks its unit; `null` where it is none of the field with any. */
export function unitText(digits: string, format: Format): string | null {
  if (/^0+$/.test(digits) && format.format === 'duration-or-none') return 'write none for no limit'
  const units = addedUnit(digits, format)
  return units.length === 0 ? null : `add a unit, such as ${units.join(' or ')}`
}

const UNITS: readonly (readonly [RegExp, string, number])[] = [
  [/^(ms|msecs?|millis|milliseconds?)$/i, 'ms', 1],
  [/^(s|secs?|seconds?)$/i, 's', 1000],
  [/^(m|mins?|minutes?)$/i, 'm', 60_000],
  [/^(h|hrs?|hours?)$/i, 'h', 3_600_000],
  [/^(d|days?)$/i, 'd', 86_400_000],
]
const PART = /(\d[\d_]*(?:[.,]\d+)?)\s*([a-zA-Z]+)/g
const ENDLESS = /^(off|never|infinite|infinity|inf|unlimited|disabled|no|false|null)$/i

/** `1.5s` → `1500ms`, `30 sec` → `30s`, `1d` → `24h`, `PT1M` → `1m`; `null` where nothing is sure. */
export function durationMeant(text: string, mayBeNone: boolean): string | null {
  if (mayBeNone && (ENDLESS.test(text.trim()) || /^none$/i.test(text.trim()))) return 'none'
  const bare = text
    .trim()
    .replace(/^P(?:T|(?=\d+D))(?=\d)/i, '')
    .replace(/(?<=\dD)T/i, '')
  if (bare.length > 60 || !/^(?:\d[\d_]*(?:[.,]\d+)?\s*[a-zA-Z]+[\s,]*(?:and\s+)?)+$/.test(bare)) return null
  const parts = [...bare.matchAll(PART)].map(([, digits = '', unit = '']) => part(digits, unit))
  const [first] = parts
  if (first === undefined || parts.some(one => one === null)) return null
  if (parts.length === 1) return first === null ? null : single(first)
  const ms = parts.reduce((sum, one) => sum + (one?.ms ?? 0), 0)
  return Number.isSafeInteger(ms) ? durationText(ms) : null
}

interface Part {
  readonly count: number
  readonly unit: string
  readonly ms: number
}

function part(digits: string, unit: string): Part | null {
  const found = UNITS.find(([pattern]) => pattern.test(unit))
  if (found === undefined) return null
  const count = Number(digits.replaceAll('_', '').replace(',', '.'))
  return { count, unit: found[1], ms: Math.round(count * found[2] * 1000) / 1000 }
}

/** In its own unit where that is a whole number, else in the next smaller one that is. */
function single({ count, unit, ms }: Part): string | null {
  if (Number.isInteger(count) && unit !== 'd') return `${count}${unit}`
  for (const [name, size] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
    ['ms', 1],
  ] as const) {
    if (Number.isInteger(ms / size) && size < (UNITS.find(([, own]) => own === unit)?.[2] ?? 0))
      return `${ms / size}${name}`
  }
  return null
}

const SIZE = /^(\d[\d_]*(?:\.\d+)?)\s*(?:(b|bytes?)|([kmg])(?:i?b?|bytes?))$/i
const SIZES = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['B', 1],
] as const

/** `64KB`, `64k` and `64 Kib` → `64KiB`. */
export function sizeMeant(text: string): string | null {
  const [, digits, , letter] = SIZE.exec(text.trim()) ?? []
  if (digits === undefined) return null
  const factor = letter === undefined ? 1 : (SIZES.find(([name]) => name[0] === letter.toUpperCase())?.[1] ?? 1)
  const bytes = Number(digits.replaceAll('_', '')) * factor
  // The unit that was written, or the largest below it that makes a whole number.
  const unit = SIZES.find(([, size]) => size <= factor && Number.isInteger(bytes / size))
  return unit === undefined || !Number.isSafeInteger(bytes) ? null : `${bytes / unit[1]}${unit[0]}`
}
