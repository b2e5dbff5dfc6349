/** Keys that have a meaning in forbear, but not in this version. */
import { type Path, pathText } from './document.js'

const SECTIONS = new Set(['hedge', 'poll', 'pace', 'fallback'])

/** What other tools call them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  hedging: 'hedge',
  hedgePolicy: 'hedge',
  rateLimit: 'pace',
  rateLimiter: 'pace',
  polling: 'poll',
}

/** What to say of such a key instead of "unknown key"; `null` for any other. */
export function reservedKeyText(parent: Path, key: string): string | null {
  const at = pathText(parent)
  const name = OTHER_NAMES[key] ?? key
  const isSection = SECTIONS.has(name) && /^spec(\.routes\[\d+\])?$/.test(at)
  return isSection ? `${name} is not in this version of forbear; remove it` : null
}
