import { effectiveOf } from '../../src/policy/compile-upstream.js'
import { BUILT_IN_FIELDS } from '../../src/policy/overlay.js'

/** What holds where nobody wrote anything. */
export const BUILT_IN_POLICY = effectiveOf(BUILT_IN_FIELDS, []).policy
