/** The one place that reads sizes: `512B`, `64KiB`, `16MiB`, `1GiB`. */

const SHAPE = /^(\d{1,15})(B|KiB|MiB|GiB)$/
const BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** One integer with its unit, powers of 1024 only → bytes; `null` for anything else. */
export function parseSizeBytes(text: string): number | null {
  const [, digits, unit] = SHAPE.exec(text) ?? []
  if (digits === undefined || unit === undefined) return null
  const total = Number(digits) * (BYTES[unit] ?? Number.NaN)
  return Number.isSafeInteger(total) ? total : null
}
