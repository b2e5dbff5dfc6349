/** What `forbear check` says of the policies in a ConfigMap, in the form of an admission answer. */
import { checkSet } from '../../policy/check.js'
import { formatMessage, type PolicyMessage } from '../../policy/messages.js'
import { policySource } from '../../policy/source.js'
import { cutToBytes, type DenialCause } from './admission-review.js'

/** Plain data: it comes from another thread. */
export interface Verdict {
  /** One a mistake, where an editor has room for so many. Empty = the policies are good. */
  readonly causes: readonly DenialCause[]
  /** The same as text of several lines; `''` without mistakes. */
  readonly message: string
  /** One line each. */
  readonly warnings: readonly string[]
  readonly upstreams: readonly string[]
  /** Of all messages: for a log, which must not show what a policy says. */
  readonly codes: readonly string[]
}

export type Judge = (files: ReadonlyMap<string, string>, signal: AbortSignal) => Promise<Verdict>

/** More than an editor shows on one screen. */
const MOST_CAUSES = 20
/** Of one mistake. A value that a message quotes may be long. */
const CAUSE_BYTES = 600

export function judgePolicies(files: ReadonlyMap<string, string>): Verdict {
  const { messages, upstreams } = checkSet(policySource(files))
  const errors = messages.filter(({ severity }) => severity === 'error')
  const warnings = messages.filter(({ severity }) => severity === 'warning')
  const causes = errors.slice(0, MOST_CAUSES).map(causeOf)
  const more = errors.length - causes.length
  return {
    causes,
    message: errors.length === 0 ? '' : denialText(causes, more),
    warnings: warnings.map(formatMessage),
    upstreams,
    codes: [...new Set(messages.map(({ code }) => code))],
  }
}

/** kubectl shows `field: message`. */
function causeOf(message: PolicyMessage): DenialCause {
  const { file, line, col } = message
  const field = line === 0 ? file || 'data' : `${file}:${line}:${col}`
  const text = formatMessage({ ...message, file: '', line: 0 })
  return { reason: 'FieldValueInvalid', field, message: cutToBytes(text, CAUSE_BYTES) }
}

function denialText(causes: readonly DenialCause[], more: number): string {
  const lines = causes.map(({ field, message }) => `${field}  ${message}`)
  const rest = more > 0 ? [`and ${more} more mistakes: mend those above first`] : []
  return ['the policies cannot be used', ...lines, ...rest].join('\n')
}
