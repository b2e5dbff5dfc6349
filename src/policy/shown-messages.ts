/** A terminal or a log holds so many messages; the rest would only push the first ones out of sight. */
import { fileMessage, type PolicyMessage } from './messages.js'

/** Of one set. */
const MOST = 100

export interface Shown {
  /** For a machine, which has room for them. */
  readonly all: readonly PolicyMessage[]
  /** In the order given; with more than 100, the errors first, and a last message that counts the rest. */
  readonly messages: readonly PolicyMessage[]
  readonly left: Left
}

export interface Left {
  readonly errors: number
  readonly warnings: number
}

export function shownMessages(list: readonly PolicyMessage[]): Shown {
  if (list.length <= MOST) return { all: list, messages: list, left: { errors: 0, warnings: 0 } }
  const errors = list.filter(({ severity }) => severity === 'error')
  const warnings = list.filter(({ severity }) => severity === 'warning')
  const kept = new Set([...errors, ...warnings].slice(0, MOST))
  const left = {
    errors: Math.max(0, errors.length - MOST),
    warnings: warnings.filter(one => !kept.has(one)).length,
  }
  return { all: list, messages: [...list.filter(one => kept.has(one)), rest(left)], left }
}

function rest({ errors, warnings }: Left): PolicyMessage {
  const counts = [count(errors, 'error'), count(warnings, 'warning')].filter(text => text !== '')
  return fileMessage(errors > 0 ? 'FB019' : 'FB069', '', `and ${counts.join(' and ')}: mend those above first`)
}

function count(n: number, word: string): string {
  return n === 0 ? '' : `${n} more ${word}${n === 1 ? '' : 's'}`
}
