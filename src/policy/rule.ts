import type { EffectivePolicy } from '../core/snapshot.js'
import type { MessageCode } from './codes.js'

/** A field for a message: `timeouts.total 30s (the default)`. */
export type Name = (field: string) => string

export interface Rule {
  readonly code: MessageCode
  /** The fields that it compares. */
  readonly fields: readonly string[]
  /** It speaks only when one of these was written. Default: `fields`. */
  readonly onlyIf?: readonly string[]
  /** Further fields that it looks at and does not name: with one of them at fault it is silent. */
  readonly also?: readonly string[]
  /** It speaks only when one layer wrote all of `fields`: a later layer may well make void what an earlier one wrote. */
  readonly together?: boolean
  /** It speaks only when no later layer than the one that wrote this field wrote any other of `fields`. */
  readonly last?: string
  /** What is wrong, or `null`. */
  readonly text: (policy: EffectivePolicy, name: Name, wrote: (field: string) => boolean) => string | null
}
