import type { Decision } from './admission-review.js'

/** A decision and what log and metrics tell of it. */
export interface Reviewed {
  readonly decision: Decision
  /** One of few words. */
  readonly reason: string
  /** Of the messages about a policy, whose text belongs to whoever edits it and not in a log. */
  readonly codes?: readonly string[]
}
