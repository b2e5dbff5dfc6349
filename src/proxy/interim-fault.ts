import { INVALID_STATUS } from './failure.js'

/** More interim (1xx) responses than this are an attack or a bug. */
const MAX_INTERIM = 100

/** Why the nth response below 200 is none that may be passed on; `null` = it is one. */
export function interimFault(status: number, nth: number): { readonly code: string; readonly message: string } | null {
  if (status < 100) return { code: INVALID_STATUS, message: `the status ${status}` }
  if (status === 101) return { code: 'UNEXPECTED_UPGRADE', message: 'a 101 that nobody asked for' }
  return nth > MAX_INTERIM ? { code: 'TOO_MANY_INTERIM', message: `over ${MAX_INTERIM} interim responses` } : null
}
