import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holds, judgeStatus, mayPoll, type PollSettings, type PollUntil, pollWaitMs } from '../../src/core/poll.js'

const STATUS: PollUntil = { statuses: new Set([200, 404]), json: null }
const STATE = { keys: ['status'], test: { kind: 'in', values: ['done', 'failed'] } } as const
const settings = (until: PollUntil): PollSettings => ({
  until,
  backoff: { kind: 'exponential', baseMs: 1000, factor: 2, capMs: 60_000, jitter: { kind: 'none' } },
  maxWaitMs: 300_000,
})

describe('what may be polled', () => {
  it('is a GET, and a HEAD whose status alone tells; neither with a body', () => {
    const byStatus = settings(STATUS)
    const byDocument = settings({ statuses: null, json: STATE })
    expect(mayPoll(byStatus, 'GET', false)).toBe(true)
    expect(mayPoll(byStatus, 'HEAD', false)).toBe(true)
    expect(mayPoll(byDocument, 'GET', false)).toBe(true)
    expect(mayPoll(byDocument, 'HEAD', false)).toBe(false)
    expect(mayPoll(byStatus, 'GET', true)).toBe(false)
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT'])
      expect(mayPoll(byStatus, method, false)).toBe(false)
  })
})

describe('what a status says of a poll', () => {
  it('is done at a status that is waited for, and not before the document says so where one is asked', () => {
    expect(judgeStatus(STATUS, 200)).toBe('done')
    expect(judgeStatus(STATUS, 404)).toBe('done')
    expect(judgeStatus({ ...STATUS, json: STATE }, 200)).toBe('judge')
    expect(judgeStatus({ statuses: null, json: STATE }, 202)).toBe('judge')
  })

  it('waits on at another 2xx and at 408, 425 and 429, and ends at any other answer', () => {
    for (let status = 200; status < 600; status++) {
      if (STATUS.statuses?.has(status)) continue
      const later = status < 300 || [408, 425, 429].includes(status)
      expect(judgeStatus(STATUS, status), String(status)).toBe(later ? 'pending' : 'final')
    }
  })
})

describe('a condition on a document', () => {
  it('holds when one of the values stands there, of the same type', () => {
    expect(holds(STATE, { status: 'failed' })).toBe(true)
    expect(holds(STATE, { status: 'running' })).toBe(false)
    expect(holds(STATE, {})).toBe(false)
    const one = { keys: ['n'], test: { kind: 'in', values: [1] } } as const
    expect(holds(one, { n: 1 })).toBe(true)
    expect(holds(one, { n: '1' })).toBe(false)
    expect(holds(one, { n: true })).toBe(false)
  })

  it('holds when anything stands there, null too, or when nothing shall', () => {
    const there = { keys: ['result'], test: { kind: 'exists', wanted: true } } as const
    const absent = { keys: ['result'], test: { kind: 'exists', wanted: false } } as const
    for (const result of [null, 0, '', {}]) {
      expect(holds(there, { result })).toBe(true)
      expect(holds(absent, { result })).toBe(false)
    }
    expect(holds(there, {})).toBe(false)
    expect(holds(absent, {})).toBe(true)
  })

  it('never holds of what is no document', () => {
    expect(holds({ keys: [], test: { kind: 'exists', wanted: false } }, undefined)).toBe(false)
    expect(holds(STATE, undefined)).toBe(false)
  })
})

describe('the wait before the next poll', () => {
  const ms = (max: number) => fc.double({ min: 0, max, noNaN: true })
  const waits = fc.record({
    ownMs: ms(60_000),
    leastMs: ms(1000),
    hintMs: fc.oneof(fc.constant(0), ms(100_000)),
    nowMs: ms(300_000),
    endMs: ms(300_000),
    medianMs: fc.option(ms(5000)),
  })
  const draw = () => fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  it('is never shorter than told, and leaves time for an answer', () => {
    fc.assert(
      fc.property(waits, draw(), (wait, random) => {
        const waitMs = pollWaitMs(wait, () => random)
        if (waitMs === null) return
        expect(waitMs).toBeGreaterThanOrEqual(wait.hintMs)
        expect(waitMs).toBeGreaterThanOrEqual(wait.leastMs)
        expect(wait.nowMs + waitMs + Math.max(50, wait.medianMs ?? 0)).toBeLessThanOrEqual(wait.endMs + 1e-6)
      }),
    )
  })

  it('is given up only when what was told, or the shortest wait, would not fit', () => {
    fc.assert(
      fc.property(waits, draw(), (wait, random) => {
        const leftMs = wait.endMs - wait.nowMs - Math.max(50, wait.medianMs ?? 0)
        expect(pollWaitMs(wait, () => random) === null).toBe(Math.max(wait.leastMs, wait.hintMs) > leftMs)
      }),
    )
  })

  it('is the back-off where there is time, a tenth of the hint at most above it, and cut to one last look', () => {
    const wait = { ownMs: 4000, leastMs: 500, hintMs: 0, nowMs: 0, endMs: 300_000, medianMs: null }
    expect(pollWaitMs(wait, () => 0.5)).toBe(4000)
    expect(pollWaitMs({ ...wait, hintMs: 10_000 }, () => 0)).toBe(10_000)
    expect(pollWaitMs({ ...wait, hintMs: 10_000 }, () => 0.5)).toBe(10_500)
    expect(pollWaitMs({ ...wait, nowMs: 298_000 }, () => 0.5)).toBe(1950)
    expect(pollWaitMs({ ...wait, nowMs: 299_800 }, () => 0.5)).toBe(null)
  })
})
