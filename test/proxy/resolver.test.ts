import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock/clock.js'
import { type Resolved, Resolver } from '../../src/proxy/resolver.js'

const GOOD: LookupAddress[] = [
  { address: '10.0.0.1', family: 4 },
  { address: '10.0.0.2', family: 4 },
]
const NOT_FOUND = Object.assign(new Error('not found'), { code: 'ENOTFOUND' })

function stage() {
  let nowMs = 0
  const asked: { name: string; done: Resolved }[] = []
  const clock: Clock = { nowMs: () => nowMs, wallMs: () => nowMs, after: () => ({ cancel() {} }) }
  const resolver = new Resolver(clock, (name, done) => asked.push({ name, done }))
  const resolve = (name: string) => {
    const answers: (string[] | string | undefined)[] = []
    resolver.resolve(name, (error, addresses) =>
      answers.push(error === null ? addresses.map(one => one.address) : error.code),
    )
    return answers
  }
  return { asked, resolve, pass: (ms: number) => (nowMs += ms) }
}

describe('the resolver', () => {
  it('asks once for all who wait, and not again while the answer is fresh', () => {
    const { asked, resolve, pass } = stage()
    const first = resolve('a')
    const second = resolve('a')
    expect(asked.length).toBe(1)
    asked[0]?.done(null, GOOD)
    expect(first).toEqual([['10.0.0.1', '10.0.0.2']])
    expect(second).toEqual([['10.0.0.2', '10.0.0.1']])
    pass(29_999)
    expect(resolve('a')).toEqual([['10.0.0.1', '10.0.0.2']])
    expect(asked.length).toBe(1)
  })

  it('serves the last good answer at once and refreshes it in the background', () => {
    const { asked, resolve, pass } = stage()
    resolve('a')
    asked[0]?.done(null, GOOD)
    pass(30_000)
    expect(resolve('a')).toEqual([['10.0.0.2', '10.0.0.1']])
    expect(asked.length).toBe(2)
    asked[1]?.done(null, [{ address: '10.0.0.9', family: 4 }])
    expect(resolve('a')).toEqual([['10.0.0.9']])
  })

  it('keeps the last good answer when lookups fail, and asks again after a pause', () => {
    const { asked, resolve, pass } = stage()
    resolve('a')
    asked[0]?.done(null, GOOD)
    pass(30_000)
    resolve('a')
    asked[1]?.done(NOT_FOUND, [])
    expect(resolve('a')[0]).toHaveLength(2)
    expect(asked.length).toBe(2)
    pass(5_000)
    expect(resolve('a')[0]).toHaveLength(2)
    expect(asked.length).toBe(3)
  })

  it('passes the error on when there never was an answer, and asks again for the next who comes', () => {
    const { asked, resolve } = stage()
    const first = resolve('a')
    asked[0]?.done(NOT_FOUND, [])
    expect(first).toEqual(['ENOTFOUND'])
    resolve('a')
    expect(asked.length).toBe(2)
  })

  it('rotates within each family and keeps the preferred family first', () => {
    const { asked, resolve } = stage()
    const first = resolve('a')
    asked[0]?.done(null, [
      { address: '::1', family: 6 },
      { address: '10.0.0.1', family: 4 },
      { address: '::2', family: 6 },
    ])
    expect(first).toEqual([['::1', '::2', '10.0.0.1']])
    expect(resolve('a')).toEqual([['::2', '::1', '10.0.0.1']])
  })

  it('lets names that failed or were slow wait for each other, and nobody else for them', () => {
    const { asked, resolve, pass } = stage()
    for (const name of ['dead1', 'dead2']) resolve(name)
    asked[0]?.done(NOT_FOUND, [])
    pass(600)
    asked[1]?.done(NOT_FOUND, [])
    for (const name of ['dead1', 'dead2']) resolve(name)
    expect(asked.length).toBe(3)
    for (const name of ['good1', 'good2']) resolve(name)
    expect(asked.map(one => one.name)).toEqual(['dead1', 'dead2', 'dead1', 'good1', 'good2'])
    asked[2]?.done(NOT_FOUND, [])
    expect(asked.at(-1)?.name).toBe('dead2')
  })
})
