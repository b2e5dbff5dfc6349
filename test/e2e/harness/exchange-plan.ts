/** What an app does on one connection, as data. */
import fc from 'fast-check'
import { type Reply, reply } from './faults.js'

export interface PlannedCall {
  readonly method: string
  readonly upstream: string
  /** `null` = none. */
  readonly body: { readonly bytes: number; readonly framing: 'length' | 'chunked'; readonly pauseMs: number } | null
  readonly key: boolean
  readonly expectContinue: boolean
  readonly replies: readonly Reply[]
}

export interface PlannedConnection {
  readonly calls: readonly PlannedCall[]
  /** All at once, or each after the answer to the one before. */
  readonly pipelined: boolean
  /** The app leaves so long after the start; `null` = it waits for its answers. */
  readonly leavesAfterMs: number | null
  /** By RST instead of FIN. */
  readonly leavesByReset: boolean
  /** A pause before each call but the first, so that connections behind have been idle. */
  readonly pauseMs: number
}

const rarely = fc.integer({ min: 0, max: 9 }).map(n => n === 0)

const body = fc.record({
  bytes: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 500 }), fc.integer({ min: 501, max: 150_000 })),
  framing: fc.constantFrom('length' as const, 'chunked' as const),
  pauseMs: fc.constantFrom(0, 0, 0, 10),
})

const plannedCall = (upstreams: readonly string[]): fc.Arbitrary<PlannedCall> =>
  fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'POST', 'POST', 'POST', 'PATCH'),
      upstream: fc.constantFrom(...upstreams),
      body: fc.option(body, { freq: 3 }),
      key: fc.boolean(),
      expectContinue: rarely,
      replies: fc.array(reply, { minLength: 1, maxLength: 4 }),
    })
    .map(call => {
      const bare = call.method === 'GET' || call.method === 'HEAD'
      return {
        ...call,
        body: bare ? null : call.body,
        expectContinue: call.expectContinue && !bare && call.body !== null,
      }
    })

export const plannedConnection = (upstreams: readonly string[]): fc.Arbitrary<PlannedConnection> =>
  fc.record({
    calls: fc.array(plannedCall(upstreams), { minLength: 1, maxLength: 4 }),
    pipelined: fc.boolean(),
    leavesAfterMs: fc.oneof(
      { arbitrary: fc.constant(null), weight: 4 },
      { arbitrary: fc.integer({ min: 0, max: 300 }), weight: 1 },
    ),
    leavesByReset: fc.boolean(),
    pauseMs: fc.constantFrom(0, 0, 0, 120),
  })
