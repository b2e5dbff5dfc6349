import { describe, expect, it } from 'vitest'
import { messagesOf, policy, snapshotOf, together, upstream } from './set.js'

const codes = (...documents: string[]) =>
  messagesOf(together(...documents)).map(line => /\[(FB\d+)\]$/.exec(line)?.[1] ?? line)

const hedgeOf = (...documents: string[]) => snapshotOf(together(...documents)).upstreams.get('payments')?.policy.hedge

describe('hedging is off', () => {
  it('where nobody wrote it', () => {
    expect(hedgeOf(upstream(''))?.mode).toBe('disabled')
  })

  it.each(['hedge: {}', 'hedge: { after: 50ms }', 'hedge: { mode: enabled }'])('and on with %s', lines => {
    expect(hedgeOf(upstream(lines))?.mode).toBe('enabled')
  })

  it('where a layer below has turned it off, until one says otherwise', () => {
    const off = policy('hedge: { mode: disabled }', 'default')
    expect(hedgeOf(off, upstream('hedge: { after: 50ms }'))?.mode).toBe('disabled')
    expect(hedgeOf(off, upstream('hedge: { mode: observe }'))?.mode).toBe('observe')
  })

  it('or on where a layer below has turned it on', () => {
    expect(hedgeOf(policy('hedge: { after: 50ms }', 'default'), upstream(''))).toMatchObject({
      mode: 'enabled',
      after: { kind: 'fixed', delayMs: 50 },
    })
  })

  it.each([
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99.9', 0.999],
  ])('%s is a quantile', (after, q) => {
    expect(hedgeOf(upstream(`hedge: { after: ${after} }`))?.after).toEqual({ kind: 'quantile', q })
  })
})

describe('hedging beside other fields', () => {
  it.each([
    ['hedge: { after: 300ms }\ntimeouts: { attempt: 300ms }', ['FB090']],
    ['hedge: { after: 299ms }\ntimeouts: { attempt: 300ms }', []],
    ['hedge: { after: 5m }', ['FB090']],
    ['hedge: { after: p95, floor: 40s, ceiling: 50s }', ['FB090']],
    ['hedge: { after: p95 }\ntimeouts: { attempt: 5ms }', ['FB090']],
    ['hedge: { mode: disabled, after: 5m }', []],
    ['hedge: { after: 50ms }\nretry: { maxAttempts: 1 }', ['FB091']],
    ['hedge: { after: 50ms }\nretry: { maxAttempts: 2 }', []],
    ['hedge: { after: 50ms }\nbudget: { ratio: 0, minPerSecond: 0.2 }', []],
    ['hedge: { after: 50ms }\nbudget: { ratio: 0, minPerSecond: 0.19 }', ['FB092']],
    ['hedge: { floor: 11s }', ['FB093']],
    ['hedge: { floor: 50ms, after: 50ms }', ['FB094']],
    ['routes: [{ name: a, match: {}, longPoll: true, hedge: {} }]', ['FB095']],
    ['hedge: {}\nroutes: [{ name: a, match: {}, longPoll: true }]', []],
    ['routes: [{ name: a, match: { methods: [POST, PUT] }, hedge: {} }]', ['FB096']],
    ['routes: [{ name: a, match: { methods: [POST, GET] }, hedge: {} }]', []],
    ['routes: [{ name: a, match: { methods: [POST] }, hedge: { keyedWrites: true } }]', []],
    ['hedge: {}\nroutes: [{ name: a, match: { methods: [POST] } }]', []],
  ])('%s: %j', (lines, expected) => {
    expect(codes(upstream(lines))).toEqual(expected)
  })

  it('a later layer may allow one attempt only, without a word', () => {
    const hedged = policy('hedge: { after: 50ms }', 'default')
    expect(codes(hedged, upstream('retry: { maxAttempts: 1 }'))).toEqual([])
    expect(codes(policy('retry: { maxAttempts: 1 }', 'default'), upstream('hedge: { after: 50ms }'))).toEqual(['FB091'])
  })
})
