import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, type Play, reply } from './support/upstream.js'

checkEveryEnding()

const ATTEMPT_MS = 1000
const hints = fc.constantFrom<Record<string, string>>({}, {}, { 'retry-after': '1' }, { 'retry-after': '4' })
const types = { 'content-type': 'application/json' }
const plays: fc.Arbitrary<Play> = fc.oneof(
  { weight: 4, arbitrary: hints.map(headers => reply(202, { headers })) },
  hints.map(headers => reply(503, { headers })),
  hints.map(headers => reply(429, { headers })),
  fc
    .constantFrom('queued', 'done')
    .chain(status =>
      fc
        .constantFrom(0, 300, 5000)
        .map(bodyMs => reply(200, { body: `{"status":"${status}"}`, headers: types, bodyMs })),
    ),
  fc.constant({ ...reply(200, { headers: types, bodyMs: 100 }), cut: true } as Play),
  fc.constant(reply(200, { body: 'x'.repeat(70_000), headers: types })),
  fc.constantFrom(fail('reset'), fail('connect'), fail('reset', { idleMs: 5000 }), hang(), reply(404)),
)

const setups = fc.record({
  calls: fc.array(
    fc.record({ plays: fc.array(plays, { minLength: 1, maxLength: 12 }), hangUpMs: fc.option(fc.nat(20_000)) }),
    {
      minLength: 1,
      maxLength: 4,
    },
  ),
  maxWaitMs: fc.constantFrom(500, 5000, 30_000),
  jitter: fc.constantFrom('none', 'full', 'equal', 'decorrelated'),
  minPerSecond: fc.constantFrom(0, 0.2, 10),
  maxInFlight: fc.constantFrom(1, 100),
  maxWaiting: fc.constantFrom(1, 100),
  whenOpen: fc.constantFrom('refuse', 'wait'),
  editMs: fc.option(fc.nat(20_000)),
  drainMs: fc.option(fc.nat(40_000)),
  random: fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
})

it('whatever the upstream does, a polled call ends in time, is answered once, and is sent no sooner than told', async () => {
  await fc.assert(
    fc.asyncProperty(setups, async setup => {
      const { maxWaitMs, jitter, minPerSecond, maxInFlight, maxWaiting, whenOpen, random } = setup
      const policy = {
        timeouts: { attemptMs: ATTEMPT_MS, totalMs: 3000 },
        retry: { maxAttempts: 3 },
        budget: { minPerSecond },
        limits: { maxInFlight, maxWaiting },
        breaker: { consecutiveFailures: 4, whenOpen },
      } as const
      const poll = {
        until: { statuses: new Set([200]), json: { keys: ['status'], test: { kind: 'in', values: ['done'] } } },
        backoff: { kind: 'exponential', baseMs: 200, factor: 2, capMs: 3000, jitter: { kind: jitter } },
        maxWaitMs,
      } as const
      const upstreamsOf = (own: typeof poll | null) => [{ policy, routes: [{ name: 'job', policy: { poll: own } }] }]
      const stage = new Stage({}, { upstreams: upstreamsOf(poll), random: () => random.next().value as number })
      const lists = setup.calls.map(
        ({ plays }, n) => [`/job-${n}`, plays as unknown as readonly [Play, ...Play[]]] as const,
      )
      stage.upstream.playsByPath(Object.fromEntries(lists))
      const calls = setup.calls.map((_, n) => stage.get(`/job-${n}`))
      setup.calls.forEach(
        ({ hangUpMs }, n) => hangUpMs !== null && stage.clock.after(hangUpMs, () => calls[n]?.hangUp()),
      )
      if (setup.editMs !== null) stage.clock.after(setup.editMs, () => stage.apply(upstreamsOf(null)))
      if (setup.drainMs !== null) stage.clock.after(setup.drainMs, () => stage.pipeline.drain())
      // A first poll has the total of any call, a repeat ends with the polling.
      await stage.run(Math.max(3000, maxWaitMs) + 10)
      for (const call of calls) {
        const reading = stage.upstream.sent.filter(sent => sent.call === call).at(-1)
        expect(call.over || call.head !== null, `${call.summary} ${reading?.ended}`).toBe(true)
      }
      // The timers of this test, too.
      await stage.run(45_000)
      await stage.end()
      for (const call of calls) {
        const sent = stage.upstream.sent.filter(one => one.call === call)
        const event = stage.finishedOf(call)
        expect(event.attempts).toBeLessThanOrEqual(sent.length)
        expect(event.polls).toBeLessThanOrEqual(event.attempts)
        sent.slice(1).forEach((one, n) => {
          const play = sent[n]?.play
          if (play?.kind !== 'reply') return
          const told = Number(play.headers[play.headers.indexOf('retry-after') + 1]) * 1000 || 0
          if (play.headers.includes('retry-after')) expect(one.atMs - (sent[n]?.atMs ?? 0)).toBeGreaterThanOrEqual(told)
        })
      }
    }),
    { numRuns: 300 },
  )
})
