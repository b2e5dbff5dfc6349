/** Keys that have a meaning in forbear, but not in this version. */
import { type Path, pathText } from './document.js'

const SECTIONS = new Set(['poll', 'park', 'pace', 'throttle', 'fallback', 'fault'])

/** What other tools call them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  rateLimit: 'pace',
  rateLimiter: 'pace',
  adaptiveThrottling: 'throttle',
  faultInjection: 'fault',
  polling: 'poll',
}

/** What to say of such a key instead of "unknown key"; `null` for any other. */
export function reservedKeyText(parent: Path, key: string): string | null {
  const at = pathText(parent)
  const name = OTHER_NAMES[key] ?? key
  const isSection = SECTIONS.has(name) && /^spec(\.routes\[\d+\])?$/.test(at)
  const isSlowCall = key === 'slowCall' && /^spec(\.routes\[\d+\])?\.breaker$/.test(at)
  return isSection || isSlowCall ? `${name} is not in this version of forbear; remove it` : null
}
