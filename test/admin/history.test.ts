import { describe, expect, it } from 'vitest'
import { History, MAX_UPSTREAMS, STEP_MS, STEPS } from '../../src/admin/dashboard/history.js'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.js'
import type { UpstreamStatus } from '../../src/telemetry/status.js'
import { attemptFinished, requestFinished } from '../telemetry/events.js'
import { sidecarStatus, upstreamStatus } from '../telemetry/status.js'

function setUp() {
  const metrics = createMetrics({ status: () => sidecarStatus() })
  const history = new History(0)
  let nowMs = 0
  const step = (upstreams: readonly UpstreamStatus[] = [upstreamStatus()]) => {
    nowMs += STEP_MS
    history.record(upstreams, metrics.tallies, nowMs, 1_000_000 + nowMs)
  }
  return { metrics, history, step }
}

function calls(metrics: Metrics, count: number, status = 200): void {
  for (let n = 0; n < count; n++) {
    metrics.emit(requestFinished({ status }))
    metrics.emit(attemptFinished({ status }))
  }
}

describe('the history of the dashboard', () => {
  it('counts what happened in each step, not since the start', () => {
    const { metrics, history, step } = setUp()
    calls(metrics, 3)
    step()
    calls(metrics, 2, 503)
    step()
    const view = history.of('payments')
    expect(view?.columns).toMatchObject({ requests: [3, 2], failed: [0, 2], attempts: [3, 2], attemptsFailed: [0, 2] })
    expect([view?.at, view?.seconds]).toEqual([
      [1005, 1010],
      [5, 5],
    ])
  })

  it('keeps 15 minutes and forgets what is older', () => {
    const { metrics, history, step } = setUp()
    for (let n = 1; n <= STEPS + 20; n++) {
      calls(metrics, n % 7)
      step()
    }
    const view = history.of('payments')
    expect(view?.at).toHaveLength(STEPS)
    expect((STEPS * STEP_MS) / 60_000).toBe(15)
    expect(view?.columns['requests']?.at(-1)).toBe((STEPS + 20) % 7)
    expect(view?.columns['requests']?.[0]).toBe(21 % 7)
    expect(history.recent('payments').requests).toBe([199, 200].reduce((sum, n) => sum + (n % 7), 0))
  })

  it('holds nothing for an upstream that is never called, and says that it knows nothing', () => {
    const { history, step } = setUp()
    for (let n = 0; n < 5; n++) step()
    expect(history.of('payments')).toBeNull()
    expect(history.of('nobody')).toBeNull()
    expect(history.recent('payments')).toMatchObject({ requests: 0, seconds: 10 })
  })

  it('begins with nothing known where an upstream came later', () => {
    const { metrics, history, step } = setUp()
    step([])
    calls(metrics, 4)
    step()
    expect(history.of('payments')?.columns['requests']).toEqual([null, 4])
  })

  it('counts from nought where the tally of an upstream was given up', () => {
    const { history } = setUp()
    const first = createMetrics({ status: () => sidecarStatus() })
    const second = createMetrics({ status: () => sidecarStatus() })
    calls(first, 9)
    calls(second, 2)
    history.record([upstreamStatus()], first.tallies, 5000, 5000)
    history.record([upstreamStatus()], second.tallies, 10_000, 10_000)
    expect(history.of('payments')?.columns['requests']).toEqual([9, 2])
  })

  it('forgets an upstream that was removed, and has room for no more than its cap', () => {
    const { metrics, history, step } = setUp()
    const many = Array.from({ length: MAX_UPSTREAMS + 5 }, (_, n) => upstreamStatus({ name: `u${n}` }))
    for (const { name } of many) metrics.emit(requestFinished({ upstream: name }))
    step(many)
    expect(many.filter(({ name }) => history.of(name) !== null)).toHaveLength(MAX_UPSTREAMS)
    step(many.slice(0, 1))
    expect(many.filter(({ name }) => history.of(name) !== null)).toHaveLength(1)
  })

  it('takes an app that left first neither for a success nor for a failure', () => {
    const { metrics, history, step } = setUp()
    metrics.emit(requestFinished({ status: 499, outcome: 'aborted' }))
    metrics.emit(requestFinished({ status: 404, outcome: 'delivered' }))
    step()
    expect(history.recent('payments')).toMatchObject({ requests: 1, failed: 0 })
  })
})
