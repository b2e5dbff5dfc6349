/** A policy whose effect can be counted: calls to the upstream for one GET that always fails. */
import { ample, type Document, quickRetry, toYaml, upstreamDoc } from './policies.js'
import type { Sidecar } from './sidecar.js'
import { until } from './time.js'

export const FILE = 'payments.yaml'
/** A watched edit is in force within this; where an event is missed only the poll of 5 s remains. */
export const EDIT_MS = 2_000
export const POLL_MS = 7_000

export const calls = (url: string, maxAttempts: number, spec: Document = {}): string =>
  toYaml(
    upstreamDoc('payments', url, {
      retry: quickRetry({ maxAttempts }),
      budget: ample,
      breaker: { mode: 'disabled' },
      ...spec,
    }),
  )

export const attempts = async (sidecar: Sidecar): Promise<number> =>
  Number((await sidecar.call('/payments/x')).headers['forbear-attempts'])

/** Waits until a GET makes that many calls. */
export const followed = (what: string, sidecar: Sidecar, expected: number, withinMs: number): Promise<unknown> =>
  until(what, async () => (await attempts(sidecar)) === expected, withinMs)
