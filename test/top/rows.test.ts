import { describe, expect, it } from 'vitest'
import { isSameRun, rowsOf, unmatchedPerSec } from '../../src/top/rows.js'
import { toneOf, troublesOf, verdict } from '../../src/top/verdict.js'
import { lookAt, statusOf } from './looks.js'

const STATUS = statusOf({ payments: {} })
const requests = (outcome: string, code: string, count: number, route = ''): string =>
  `requests_total{method="GET",code="${code}",outcome="${outcome}",upstream="payments",route="${route}"} ${count}`
const attempts = (count: number): string =>
  `attempts_total{code="2xx",result="response",upstream="payments",route=""} ${count}`
const retries = (count: number): string => `retries_total{reason="503",upstream="payments",route=""} ${count}`
const denied = (reason: string, count: number): string =>
  `retries_denied_total{reason="${reason}",upstream="payments",route=""} ${count}`

const BEFORE = lookAt(10, STATUS, [requests('delivered', '2xx', 100), attempts(100)])

function rowAfter(metrics: readonly string[], lastReasons = new Map<string, string>()) {
  const [row] = rowsOf(BEFORE, lookAt(12, STATUS, metrics), lastReasons)
  if (row === undefined) throw new Error('no row')
  return row
}

describe('the rates between two looks', () => {
  it('are those of what was counted in between', () => {
    const row = rowAfter([
      requests('delivered', '2xx', 115),
      requests('retries-exhausted', '5xx', 5),
      attempts(130),
      retries(8),
      'hedges_total{result="won",upstream="payments",route=""} 2',
      'hedges_total{result="observed",upstream="payments",route=""} 9',
    ])
    expect(row).toMatchObject({ requestsPerSec: 10, success: 0.75, retryShare: 0.5, amplification: 1.5 })
  })

  it('do not count a call whose app went away, and take a broken body for a failure', () => {
    const row = rowAfter([
      requests('delivered', '2xx', 101),
      requests('aborted', '4xx', 50),
      requests('cut', '2xx', 1),
      attempts(101),
    ])
    expect(row).toMatchObject({ requestsPerSec: 1, success: 0.5 })
  })

  it('are unknown where nobody called, and at the first look', () => {
    expect(rowAfter([requests('delivered', '2xx', 100), attempts(100)])).toMatchObject({
      requestsPerSec: 0,
      success: null,
      retryShare: null,
      amplification: null,
    })
    expect(rowsOf(null, BEFORE, new Map())[0]).toMatchObject({ requestsPerSec: null, success: null })
  })

  it('begin anew for an upstream that was taken out and put back', () => {
    expect(rowAfter([requests('delivered', '2xx', 4), attempts(4)])).toMatchObject({ requestsPerSec: 2, success: 1 })
  })

  it('add up the routes in the row of the upstream, and give each its own', () => {
    const row = rowAfter([requests('delivered', '2xx', 102), requests('connect', '5xx', 2, 'orders'), attempts(102)])
    expect(row).toMatchObject({ requestsPerSec: 2, success: 0.5 })
    expect(row.routes).toMatchObject([{ route: 'orders', requestsPerSec: 1, success: 0, reason: 'connect' }])
  })

  it('are not those of two processes', () => {
    expect(isSameRun(BEFORE, lookAt(12, STATUS, [], 1))).toBe(true)
    expect(isSameRun(BEFORE, lookAt(12, STATUS, [], 2))).toBe(false)
  })

  it('tell of calls that match no upstream', () => {
    const lost = 'requests_total{method="GET",code="4xx",outcome="no-route",upstream="_none",route=""} 6'
    expect(unmatchedPerSec(BEFORE, lookAt(12, STATUS, [lost]))).toBe(3)
  })
})

describe('the last reason', () => {
  it('is the most frequent one since the last look, and stays while nothing else goes wrong', () => {
    const lastReasons = new Map<string, string>()
    const calm = [requests('delivered', '2xx', 100), attempts(100)]
    expect(rowAfter(calm, lastReasons).reason).toBeNull()
    expect(rowAfter([...calm, denied('deadline', 1), denied('budget-exhausted', 3)], lastReasons)).toMatchObject({
      reason: 'budget-exhausted',
      budgetSpent: true,
    })
    expect(rowAfter(calm, lastReasons)).toMatchObject({ reason: 'budget-exhausted', budgetSpent: false })
  })
})

describe('the verdict', () => {
  const said = (status: ReturnType<typeof statusOf>, metrics: readonly string[] = []) => {
    const rows = rowsOf(BEFORE, lookAt(12, status, metrics), new Map())
    return { text: verdict(rows, status, 0), tone: toneOf(rows, status), troubles: troublesOf(rows).length }
  }
  const breaker = { state: 'open', mode: 'enforce', openForMs: 2500, failuresInARow: 10, held: null } as const

  it('says that all is well', () => {
    expect(said(statusOf({ a: {}, b: {} }))).toEqual({ text: 'all 2 upstreams are well', tone: 'good', troubles: 0 })
  })

  it('names what is worst first', () => {
    const status = statusOf({ a: { gate: { closed: true, closedForMs: 900 } }, b: { breaker } })
    expect(said(status)).toEqual({
      text: '2 of 2 upstreams in trouble: b: breaker open, 3s left; a: gate closed, 1s left',
      tone: 'bad',
      troubles: 2,
    })
  })

  it('does not call for help over a breaker that only observes', () => {
    expect(said(statusOf({ a: { breaker: { ...breaker, mode: 'observe' } } })).tone).toBe('good')
  })

  it('says how many calls fail, and that the budget is spent', () => {
    const metrics = [
      requests('retries-exhausted', '5xx', 3),
      requests('delivered', '2xx', 101),
      attempts(104),
      denied('budget-exhausted', 1),
    ]
    expect(said(STATUS, metrics).text).toBe('1 of 1 upstream in trouble: payments: 75% of calls fail, budget spent')
  })

  it('tells of what an operator has switched, and of what is not in force', () => {
    const status = statusOf({ a: {} }, { retries: 'off', faults: 'on', draining: true, noPolicy: { b: {} } })
    expect(said(status).text).toBe(
      'the sidecar drains; the upstream is well; no valid policy for b; retries are switched off; faults are rehearsed',
    )
  })
})
