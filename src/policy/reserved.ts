/** Keys that have a meaning in forbear, but not in this version. */
import { type Path, pathText } from './document.js'

const SECTIONS = new Set(['hedge', 'poll', 'park', 'pace', 'throttle', 'fallback', 'fault'])

/** What to say of such a key instead of "unknown key"; `null` for any other. */
export function reservedKeyText(parent: Path, key: string): string | null {
  const at = pathText(parent)
  const isSection = SECTIONS.has(key) && /^spec(\.routes\[\d+\])?$/.test(at)
  const isSlowCall = key === 'slowCall' && /^spec(\.routes\[\d+\])?\.breaker$/.test(at)
  return isSection || isSlowCall ? `${key} is not in this version of forbear; remove it` : null
}
