import { describe, expect, it } from 'vitest'
import type { UpgradeDecision, UpgradeGranted } from '../../src/pipeline/upgrade-ports.js'
import type { AppCall } from './support/app-call.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

const api = { name: 'api', host: 'api.example.com', https: true, hosts: ['api.internal'] }
const stageWith = (policy: PolicyPart) => new Stage({}, { upstreams: [{ ...api, policy }] })

function connect(stage: Stage, authority = 'api.internal:443'): AppCall {
  const call = stage.tunnel(authority)
  call.keepsTunnel = true
  return call
}

function granted(decision: UpgradeDecision): UpgradeGranted {
  if (!decision.proceed) throw new Error(`refused: ${decision.answer.status}`)
  return decision
}

const refusal = (decision: UpgradeDecision) => (decision.proceed ? null : JSON.parse(decision.answer.body).reason)
/** The app leaves during the handshake. */
function abort(decision: UpgradeDecision): void {
  const grant = granted(decision)
  grant.onOutcome({ kind: 'aborted', code: 'X' })
  grant.onClosed(NOTHING)
}

const SWITCHED = { kind: 'response', status: 101 } as const
const NOTHING = { toUpstream: 0, toApp: 0 }

describe('a tunnel', () => {
  it('of a CONNECT is counted while it stands, and its end is told with bytes and time', async () => {
    const stage = stageWith({})
    const call = connect(stage)
    await stage.run(10)
    expect([stage.status().tunnels, stage.status().inFlight]).toEqual([1, 0])
    await stage.run(3_600_000)
    call.closeTunnel(7, 11)
    expect(stage.status().tunnels).toBe(0)
    expect(stage.of('tunnel-closed')).toMatchObject([
      { upstream: 'api', route: null, method: 'CONNECT', path: 'api.internal:443', bytesToUpstream: 7, bytesToApp: 11 },
    ])
    expect(stage.of('tunnel-closed')[0]?.durationMs).toBeGreaterThanOrEqual(3_600_000)
  })

  it('of a WebSocket is counted while it stands, and its end is told without the query', async () => {
    const stage = stageWith({})
    const grant = granted(stage.handshake('/socket?token=1'))
    expect(stage.status().tunnels).toBe(0)
    grant.onOutcome(SWITCHED)
    expect(stage.status().tunnels).toBe(1)
    await stage.run(500)
    grant.onClosed({ toUpstream: 1, toApp: 2 })
    expect(stage.status().tunnels).toBe(0)
    expect(stage.of('tunnel-closed')).toMatchObject([
      { method: 'GET', path: '/socket', durationMs: 500, bytesToUpstream: 1, bytesToApp: 2 },
    ])
  })

  it('that never stood is not told, and gives its place back', async () => {
    const stage = stageWith({ limits: { maxTunnels: 1 }, retry: { maxAttempts: 1 } })
    for (const outcome of [SWITCHED, { kind: 'reset', code: 'X' }, { kind: 'response', status: 403 }] as const) {
      const grant = granted(stage.handshake('/socket'))
      grant.onOutcome(outcome)
      grant.onClosed(NOTHING)
    }
    stage.upstream.plays(fail('connect'))
    const failed = stage.tunnel('api.internal:443')
    await stage.run(10)
    expect(failed.summary).toBe('502 connect after 1')
    const left = connect(stage)
    left.hangUp()
    expect(stage.of('tunnel-closed')).toHaveLength(1)
    abort(stage.handshake('/socket'))
  })

  it('beyond maxTunnels is refused at once, whichever kind, and those being opened count', async () => {
    const stage = stageWith({ limits: { maxTunnels: 2 } })
    const first = connect(stage)
    const second = granted(stage.handshake('/socket'))
    const refused = connect(stage)
    expect(refused.summary).toBe('503 overloaded after 0')
    expect(refused.header('Retry-After') ?? refused.header('retry-after')).toBe('1')
    expect(stage.finishedOf(first)).toMatchObject({ status: 503 })
    await stage.run(10)
    second.onOutcome(SWITCHED)
    expect(refusal(stage.handshake('/socket'))).toBe('overloaded')
    expect(stage.upstream.sent).toHaveLength(1)
    first.closeTunnel()
    abort(stage.handshake('/socket'))
    second.onClosed(NOTHING)
  })

  it('that stands takes no slot from the calls, however many there are', async () => {
    const stage = stageWith({ limits: { maxInFlight: 1, maxTunnels: 3, maxWaiting: 0 } })
    const tunnels: AppCall[] = []
    for (let n = 0; n < 3; n++) {
      tunnels.push(connect(stage))
      await stage.run(10)
    }
    stage.upstream.plays(reply(200))
    const call = stage.get('/x')
    await stage.run(10)
    expect([call.summary, stage.status().tunnels]).toEqual(['200 delivered after 1', 3])
    for (const tunnel of tunnels) tunnel.closeTunnel()
  })

  it('to an undeclared host is counted by itself', async () => {
    const stage = new Stage({}, { upstreams: [api], unmatched: 'tunnel' })
    expect(new Stage({}, { upstreams: [api] }).pipeline.unmatchedTunnels).toBeNull()
    const call = connect(stage, 'example.com:443')
    await stage.run(10)
    expect([stage.pipeline.unmatchedTunnels, stage.status().tunnels]).toEqual([1, 0])
    call.closeTunnel()
    expect(stage.pipeline.unmatchedTunnels).toBe(0)
    expect(stage.of('tunnel-closed')).toMatchObject([{ upstream: '_unmatched', path: 'example.com:443' }])
  })

  it('stays counted through an edit that lowers the limit, which holds for the next', async () => {
    const stage = stageWith({ limits: { maxTunnels: 2 } })
    const call = connect(stage)
    await stage.run(10)
    stage.apply([{ ...api, policy: { limits: { maxTunnels: 1 } } }])
    expect(stage.status().tunnels).toBe(1)
    expect(refusal(stage.handshake('/socket'))).toBe('overloaded')
    call.closeTunnel()
    abort(stage.handshake('/socket'))
  })
})
