/** The ways in which the demo's upstream behaves. */
export const MODES = ['healthy', 'slow', 'failing', 'limiting', 'down'] as const

export type Mode = (typeof MODES)[number]

/** What each mode does, for people. */
export const MODE_MEANINGS: Readonly<Record<Mode, string>> = {
  healthy: 'answers at once',
  slow: 'answers after 0.5 to 2.5 s',
  failing: 'answers 503 to three calls of ten',
  limiting: 'serves 2 calls a second, the others get 429 with Retry-After: 1',
  down: 'resets every connection',
}

const FAILING_RATIO = 0.3
const SLOW_FROM_MS = 500
const SLOW_SPAN_MS = 2000
const ALLOWED_PER_SECOND = 2

/** What happens to one call. */
export type Reaction =
  | {
      readonly kind: 'answer'
      readonly status: 200 | 429 | 503
      readonly delayMs: number
      readonly retryAfterS: number | null
    }
  | { readonly kind: 'reset' }

/**
 * `random` is in [0, 1). `servedInSecond` = calls that were answered with 200 in the current second; only `limiting`
 * looks at it.
 */
export function react(mode: Mode, random: number, servedInSecond: number): Reaction {
  switch (mode) {
    case 'healthy':
      return answer(200)
    case 'slow':
      return answer(200, SLOW_FROM_MS + random * SLOW_SPAN_MS)
    case 'failing':
      return answer(random < FAILING_RATIO ? 503 : 200)
    case 'limiting':
      return servedInSecond < ALLOWED_PER_SECOND ? answer(200) : answer(429, 0, 1)
    case 'down':
      return { kind: 'reset' }
  }
}

export function isMode(word: string): word is Mode {
  return MODES.some(mode => mode === word)
}

function answer(status: 200 | 429 | 503, delayMs = 0, retryAfterS: number | null = null): Reaction {
  return { kind: 'answer', status, delayMs, retryAfterS }
}
