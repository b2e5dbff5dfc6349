/** Statuses of `retryOn` as other tools write them: ranges, classes, several in one item. */

/** The statuses that a retry may mend. */
const RETRYABLE = [408, 425, 429, 502, 503, 504]

/** `502 503` → `502, 503`, `500-504` → `502, 503, 504`, `50x` → the same; `null` where nothing is sure. */
export function statusesMeant(text: string): string | null {
  const [, from, to] = /^(\d{3}) ?(?:-|–|—|\.\.\.?|to) ?(\d{3})$/.exec(text) ?? []
  if (from !== undefined) return listed(status => status >= Number(from) && status <= Number(to))
  const [, digits] = /^([45]\d?)[xX*]{1,2}$/.exec(text) ?? []
  if (digits !== undefined && text.length === 3) return listed(status => String(status).startsWith(digits))
  const words = text.trim().split(/[\s;|/,]+/)
  const known = words.every(word => RETRYABLE.includes(Number(word)) || CONDITIONS.has(word))
  return words.length > 1 && words.length <= 20 && known ? [...new Set(words)].join(', ') : null
}

const CONDITIONS = new Set(['connect', 'reset', 'timeout'])

function listed(wanted: (status: number) => boolean): string | null {
  const list = RETRYABLE.filter(wanted)
  return list.length === 0 ? null : list.join(', ')
}
