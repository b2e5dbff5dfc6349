import type { BackoffSettings } from '../core/backoff.js'
import { parsePointer } from '../core/json-pointer.js'
import type { JsonCondition, PollSettings } from '../core/poll.js'
import type { FieldReader } from './compile-policy.js'

/** `null` where nobody says until when. */
export function compilePoll(read: FieldReader, backoff: BackoffSettings): PollSettings | null {
  const statuses = read.value('poll.until.status') as readonly number[] | undefined
  const json = jsonOf(read)
  if (statuses === undefined && json === null) return null
  const until = Object.freeze({ statuses: statuses === undefined ? null : new Set(statuses), json })
  return Object.freeze({ until, backoff, maxWaitMs: read.ms('poll.maxWait') })
}

function jsonOf(read: FieldReader): JsonCondition | null {
  const keys = parsePointer(String(read.value('poll.until.json.pointer') ?? '~'))
  if (keys === null) return null
  const exists = read.value('poll.until.json.exists')
  const equal = read.value('poll.until.json.equals')
  const values = (read.value('poll.until.json.in') ?? [equal]) as readonly (string | number | boolean)[]
  const test =
    typeof exists === 'boolean' ? { kind: 'exists' as const, wanted: exists } : { kind: 'in' as const, values }
  return Object.freeze({ keys: Object.freeze(keys), test: Object.freeze(test) })
}
