/** Figures as people read them in a narrow column; `-` stands for what is not known. */

const UNKNOWN = '-'

export function perSecond(rate: number | null): string {
  if (rate === null) return UNKNOWN
  if (rate === 0) return '0'
  return rate < 10 ? rate.toFixed(1) : short(rate)
}

/** Rounded towards the middle: only what is whole is 100 %, only what is nothing 0 %. */
export function percent(share: number | null): string {
  if (share === null) return UNKNOWN
  if (share <= 0) return '0%'
  if (share > 1 || share === 1) return `${short(Math.round(share * 100))}%`
  return `${Math.min(99, Math.max(1, Math.round(share * 100)))}%`
}

export function times(ratio: number | null): string {
  return ratio === null ? UNKNOWN : ratio.toFixed(2)
}

export function millis(ms: number | null): string {
  if (ms === null) return UNKNOWN
  if (ms < 10_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)}`
  return `${Math.round(ms / 1000)}s`
}

/** A wait that is counted down: in whole seconds, never 0 before its time. */
export function countdown(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return seconds < 120 ? `${seconds}s` : `${Math.ceil(seconds / 60)}min`
}

/** Five characters at most. */
export function short(count: number): string {
  if (count < 10_000) return String(Math.round(count))
  return count < 1e6 ? `${Math.round(count / 1000)}k` : `${Math.round(count / 1e6)}M`
}
