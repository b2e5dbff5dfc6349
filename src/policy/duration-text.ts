const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** As policies write it, rounded to whole ms: `1m30s`; `none` for a clock that never ends. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return 'none'
  let left = Math.round(ms)
  let text = ''
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size)
    if (count > 0) text += `${count}${unit}`
    left -= count * size
  }
  return text === '' ? '0ms' : text
}
