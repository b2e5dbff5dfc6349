/** Keys that have a meaning in forbear, but not in this version. */
import { type Path, pathText } from './document.js'

const SECTIONS = new Set(['park'])

/** What to say of such a key instead of "unknown key"; `null` for any other. */
export function reservedKeyText(parent: Path, key: string): string | null {
  const at = pathText(parent)
  const isSection = SECTIONS.has(key) && /^spec(\.routes\[\d+\])?$/.test(at)
  return isSection ? `${key} is not in this version of forbear; remove it` : null
}
