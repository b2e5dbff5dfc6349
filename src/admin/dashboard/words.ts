/** Figures as people read them. */

export function perSecond(rate: number): string {
  if (rate === 0) return '0/s'
  return rate < 10 ? `${rate.toFixed(rate < 0.1 ? 2 : 1)}/s` : `${Math.round(rate)}/s`
}

/** Rounded towards the middle: only what is whole is 100 %, only what is nothing 0 %. */
export function percent(ratio: number): string {
  if (ratio <= 0) return '0 %'
  if (ratio >= 1) return '100 %'
  const tenths = Math.min(999, Math.max(1, Math.round(ratio * 1000)))
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)} %`
}

export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return 'no end'
  if (ms < 1000) return `${ms < 10 ? trimmed(ms) : Math.round(ms)} ms`
  if (ms < 60_000) return `${ms < 10_000 ? trimmed(ms / 1000) : Math.round(ms / 1000)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** A wait that is counted down: in whole seconds, never 0 before its time. */
export function countdown(ms: number): string {
  return Number.isFinite(ms) ? `${Math.max(1, Math.ceil(ms / 1000))} s` : 'no end'
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function listed(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most)
  if (names.length > most) return `${shown.join(', ')} and ${names.length - most} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}

/** Three digits or so. */
export function figure(value: number): string {
  return value < 10 ? trimmed(value) : String(Math.round(value))
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '')
}
