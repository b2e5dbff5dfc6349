/** Keys of a mapping as YAML has them: which are refused before anybody asks what they mean. */
import { isScalar, type Node, type Scalar } from 'yaml'

export const MERGE = Symbol('merge')

export type KeyRead =
  | { readonly key: string | typeof MERGE }
  | {
      readonly refused: string
      /** The mapping was meant to be something else: nothing else in it is judged. */
      readonly torn: boolean
    }

/** Look like a space, and are part of a key or value. */
const ODD_SPACE = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/

export function readKey(node: Node): KeyRead {
  if (!isScalar(node)) return refused('a key must be text, not a mapping, list or alias')
  const { value, source = '', type } = node as Scalar
  if (typeof value === 'symbol') return { key: MERGE }
  if (typeof value === 'number') return { key: source }
  if (typeof value === 'string') return type === 'PLAIN' ? plainKey(value) : { key: value }
  if (value === null) return refused('a key is missing before the colon')
  return refused(`the key is the truth value ${value}: tools of YAML 1.1 turn on, yes, off and no into it`)
}

function plainKey(key: string): KeyRead {
  const odd = ODD_SPACE.exec(key)?.[0].codePointAt(0)
  if (odd !== undefined) {
    if (odd === 0xfeff) return refused('an invisible mark (BOM, U+FEFF) stands in the key: remove it', true)
    const name = odd === 0xa0 ? 'a no-break space' : 'a space of another kind'
    const code = odd.toString(16).toUpperCase().padStart(4, '0')
    return refused(`${name} (U+${code}) stands in the key: type it again with plain spaces`, true)
  }
  if (/^-[A-Za-z]/.test(key)) return refused(`a space is missing after the dash: write - ${key.slice(1)}`, true)
  return { key }
}

function refused(text: string, torn = false): KeyRead {
  return { refused: text, torn }
}
