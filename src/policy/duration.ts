/** The one place that reads durations: `250ms`, `30s`, `1m30s`. */

const SHAPE = /^(?:(\d{1,12})h)?(?:(\d{1,12})m)?(?:(\d{1,12})s)?(?:(\d{1,12})ms)?$/

/** Integers with h, m, s, ms in that order → ms; `null` for anything else. */
export function parseDurationMs(text: string): number | null {
  const parts = text === '' ? null : SHAPE.exec(text)
  if (parts === null) return null
  const [, h = '0', m = '0', s = '0', ms = '0'] = parts
  const total = ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000 + Number(ms)
  return Number.isSafeInteger(total) ? total : null
}
