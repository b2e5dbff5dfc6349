import { describe, expect, it } from 'vitest'
import type { UpgradeDecision, UpgradeGranted, UpgradeOutcome } from '../../src/pipeline/upgrade-ports.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { hang, reply } from './support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

function granted(decision: UpgradeDecision): UpgradeGranted {
  if (!decision.proceed) throw new Error(`refused: ${decision.answer.status}`)
  return decision
}

function end(grant: UpgradeGranted, outcome: UpgradeOutcome): void {
  grant.onOutcome(outcome)
  grant.onClosed({ toUpstream: 0, toApp: 0 })
}

const SWITCHED: UpgradeOutcome = { kind: 'response', status: 101 }

/** `status reason`, or what was granted. */
function told(decision: UpgradeDecision): string {
  if (decision.proceed) return 'granted'
  return `${decision.answer.status} ${JSON.parse(decision.answer.body).reason}`
}

/** What the log says of the handshakes. */
function lines(stage: Stage): string[] {
  const finished = stage.of('request-finished').filter(event => event.path.endsWith('/socket'))
  return finished.map(event => `${event.status} ${event.outcome} after ${event.attempts}`)
}

describe('an Upgrade handshake', () => {
  it('goes where a request would, with the path as the upstream sees it', () => {
    const stage = new Stage({ timeouts: { connectMs: 123, attemptMs: 456 } })
    const grant = granted(stage.handshake('/api/socket?token=1', null))
    expect(grant).toMatchObject({ path: '/socket?token=1', connectTimeoutMs: 123, handshakeTimeoutMs: 456 })
    expect(grant.set).toEqual(['forbear-attempt', '1'])
    expect(grant.extra).toEqual(['forbear-attempts', '1', 'forbear-outcome', 'delivered'])
    end(grant, SWITCHED)
    expect(lines(stage)).toEqual(['101 delivered after 1'])
  })

  it('is refused where a request would be', () => {
    const stage = new Stage({}, { invalid: ['broken'] })
    expect(told(stage.handshake('/socket', 'broken'))).toBe('503 no-policy')
    expect(told(stage.handshake('/socket', null))).toBe('404 no-route')
    expect(told(stage.handshake('/socket', 'api', ['Via', '1.1 forbear-test, 1.1 forbear-test']))).toBe('508 loop')
    stage.pipeline.drain()
    expect(told(stage.handshake('/socket'))).toBe('503 draining')
    expect(lines(stage)).toHaveLength(4)
  })

  it('holds a slot until its outcome, and is a call until both sockets are closed', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    const grant = granted(stage.handshake('/socket'))
    const call = stage.get('/queued')
    expect(call.summary).toBe('waiting')
    expect(told(stage.handshake('/socket'))).toBe('503 overloaded')
    grant.onOutcome(SWITCHED)
    await stage.run(10)
    expect(call.summary).toBe('200 delivered after 1')
    expect(stage.pipeline.active).toBe(1)
    grant.onClosed({ toUpstream: 0, toApp: 0 })
    expect(stage.pipeline.active).toBe(0)
    expect(lines(stage)).toEqual(['503 overloaded after 0', '101 delivered after 1'])
  })

  it.each([
    [{ kind: 'connect', code: 'X' }, '502 connect after 1', 1],
    [{ kind: 'reset', code: 'X' }, '502 reset after 1', 1],
    [{ kind: 'bad-response', code: 'X' }, '502 bad-response after 1', 1],
    [{ kind: 'timeout', code: 'X' }, '504 attempt-timeout after 1', 1],
    [{ kind: 'aborted', code: 'X' }, '499 aborted after 1', 0],
    [{ kind: 'response', status: 503 }, '503 delivered after 1', 1],
    [{ kind: 'response', status: 404 }, '404 delivered after 1', 0],
  ] as const)('that ends as %o is told and counted as such', (outcome, line, failures) => {
    const stage = new Stage()
    end(granted(stage.handshake('/socket')), outcome)
    expect(lines(stage)).toEqual([line])
    expect(stage.status().breaker.failuresInARow).toBe(failures)
  })

  it('is refused by an open breaker with the time left, and may be its probe', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const refused = stage.handshake('/socket')
    expect(told(refused)).toBe('503 breaker-open')
    expect(!refused.proceed && refused.answer.headers).toContain('retry-after')
    await stage.run(1000)
    end(granted(stage.handshake('/socket')), SWITCHED)
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('may be the probe of a breaker that requests would wait for, when none does', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    expect(told(stage.handshake('/socket'))).toBe('503 breaker-open')
    await stage.run(1000)
    end(granted(stage.handshake('/socket')), SWITCHED)
    expect(stage.status().breaker.state).toBe('closed')
    end(granted(stage.handshake('/socket')), SWITCHED)
  })

  it('does not overtake requests that wait for the breaker', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(hang())
    const waits = stage.get('/waits')
    expect(told(stage.handshake('/socket'))).toBe('503 overloaded')
    waits.hangUp()
  })

  it('is refused by a closed gate with the time left, and may be the first call after it', async () => {
    const stage = new Stage({ retry: { retryAfter: { scope: 'upstream' } }, breaker: { mode: 'disabled' } })
    stage.upstream.plays(reply(429, { headers: { 'Retry-After': '5' } }))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(10)
    const refused = stage.handshake('/socket')
    expect(told(refused)).toBe('503 gate-closed')
    expect(!refused.proceed && refused.answer.headers.join()).toContain('retry-after,5')
    await stage.run(5000)
    const first = granted(stage.handshake('/socket'))
    expect(told(stage.handshake('/socket'))).toBe('503 gate-closed')
    end(first, { kind: 'connect', code: 'X' })
    expect(stage.status().gate.closed).toBe(true)
    end(granted(stage.handshake('/socket')), SWITCHED)
    expect(stage.status().gate.closed).toBe(false)
  })
})
