/** Fault rehearsal: what an upstream's bad day would be like, while an operator has switched it on. */

export interface FaultSettings {
  /** Share of attempts, 0 … 100; 0 = off. */
  readonly percent: number
  readonly delayMs: number
  /** Status of an answer in the upstream's place; `null` = none. */
  readonly status: number | null
  /** The connection breaks instead of an answer. */
  readonly abort: boolean
}

/** What happens to one attempt: a pause, then an end in the upstream's place or the real call. */
export interface Fault {
  readonly delayMs: number
  readonly then:
    | { readonly kind: 'status'; readonly status: number }
    | { readonly kind: 'abort' }
    | { readonly kind: 'call' }
}

const ABORT: Fault['then'] = Object.freeze({ kind: 'abort' })
const CALL: Fault['then'] = Object.freeze({ kind: 'call' })

/** `null` = this attempt is spared. `random` in [0, 1). */
export function drawFault(settings: FaultSettings, random: () => number): Fault | null {
  const { percent, delayMs, status, abort } = settings
  const does = abort || status !== null || delayMs > 0
  if (!does || percent === 0 || random() * 100 >= percent) return null
  if (abort) return { delayMs, then: ABORT }
  return { delayMs, then: status === null ? CALL : { kind: 'status', status } }
}
