import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { type Resolved, Resolver } from '../../src/proxy/resolver.js'

const GOOD: LookupAddress[] = [
  { address: '10.0.0.1', family: 4 },
  { address: '10.0.0.2', family: 4 },
]
const NOT_FOUND = Object.assign(new Error('not found'), { code: 'ENOTFOUND' })

interface Question {
  readonly name: string
  readonly done: Resolved
}

function stage() {
  const clock = new VirtualClock()
  const asked: Question[] = []
  const askedDirectly: Question[] = []
  const resolver = new Resolver(
    clock,
    (name, done) => asked.push({ name, done }),
    (name, done) => askedDirectly.push({ name, done }),
  )
  const resolve = (name: string) => {
    const answers: (string[] | string | undefined)[] = []
    resolver.resolve(name, (error, addresses) =>
      answers.push(error === null ? addresses.map(one => one.address) : error.code),
    )
    return answers
  }
  return { asked, askedDirectly, resolve, pass: (ms: number) => clock.advance(ms), clock }
}

describe('the resolver', () => {
  it('asks once for all who wait, and not again while the answer is fresh', async () => {
    const { asked, resolve, pass } = stage()
    const first = resolve('a')
    const second = resolve('a')
    expect(asked.length).toBe(1)
    asked[0]?.done(null, GOOD)
    expect(first).toEqual([['10.0.0.1', '10.0.0.2']])
    expect(second).toEqual([['10.0.0.2', '10.0.0.1']])
    await pass(29_999)
    expect(resolve('a')).toEqual([['10.0.0.1', '10.0.0.2']])
    expect(asked.length).toBe(1)
  })

  it('serves the last good answer at once and refreshes it in the background', async () => {
    const { asked, resolve, pass } = stage()
    resolve('a')
    asked[0]?.done(null, GOOD)
    await pass(30_000)
    expect(resolve('a')).toEqual([['10.0.0.2', '10.0.0.1']])
    expect(asked.length).toBe(2)
    asked[1]?.done(null, [{ address: '10.0.0.9', family: 4 }])
    expect(resolve('a')).toEqual([['10.0.0.9']])
  })

  it('keeps the last good answer when lookups fail, and asks again after a pause', async () => {
    const { asked, resolve, pass } = stage()
    resolve('a')
    asked[0]?.done(null, GOOD)
    await pass(30_000)
    resolve('a')
    asked[1]?.done(NOT_FOUND, [])
    expect(resolve('a')[0]).toHaveLength(2)
    expect(asked.length).toBe(2)
    await pass(5_000)
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

  it('lets names that failed or were slow wait for each other, and nobody else for them', async () => {
    const { asked, resolve, pass } = stage()
    for (const name of ['dead1', 'dead2']) resolve(name)
    asked[0]?.done(NOT_FOUND, [])
    await pass(600)
    asked[1]?.done(NOT_FOUND, [])
    for (const name of ['dead1', 'dead2']) resolve(name)
    expect(asked.length).toBe(3)
    for (const name of ['good1', 'good2']) resolve(name)
    expect(asked.map(one => one.name)).toEqual(['dead1', 'dead2', 'dead1', 'good1'])
    asked[3]?.done(null, GOOD)
    expect(asked.at(-1)?.name).toBe('good2')
    asked[4]?.done(null, GOOD)
    expect(asked.length).toBe(5)
    asked[2]?.done(NOT_FOUND, [])
    expect(asked.at(-1)?.name).toBe('dead2')
  })

  it('asks for no more at a time than the threads of the process can answer', () => {
    const { asked, resolve } = stage()
    for (const name of ['a', 'b', 'c', 'd']) resolve(name)
    expect(asked.map(one => one.name)).toEqual(['a', 'b'])
    asked[1]?.done(null, GOOD)
    expect(asked.map(one => one.name)).toEqual(['a', 'b', 'c'])
  })

  it('answers localhost by itself', () => {
    const { asked, resolve } = stage()
    expect([resolve('localhost'), resolve('localhost.')]).toEqual([[['127.0.0.1', '::1']], [['127.0.0.1', '::1']]])
    expect(asked).toEqual([])
  })

  it('finds a name in the second way while dead names hold every thread, even at the start', async () => {
    const { asked, askedDirectly, resolve, pass, clock } = stage()
    for (const name of ['dead1', 'dead2', 'dead3']) resolve(name)
    const good = resolve('good')
    await pass(499)
    expect(askedDirectly).toEqual([])
    await pass(1)
    expect(askedDirectly.map(one => one.name)).toEqual(['dead1', 'dead2', 'dead3', 'good'])
    askedDirectly[3]?.done(null, GOOD)
    expect(good).toEqual([['10.0.0.1', '10.0.0.2']])
    expect(resolve('good')).toEqual([['10.0.0.2', '10.0.0.1']])
    expect(asked.map(one => one.name)).toEqual(['dead1', 'dead2'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('refreshes in the second way too while dead names hold every thread', async () => {
    const { asked, askedDirectly, resolve, pass } = stage()
    for (const name of ['dead1', 'dead2', 'good']) resolve(name)
    await pass(500)
    const [, , first] = askedDirectly
    first?.done(null, GOOD)
    await pass(30_000)
    expect(resolve('good')[0]).toHaveLength(2)
    expect(askedDirectly.length).toBe(4)
    resolve('good')
    expect(askedDirectly.length).toBe(4)
    askedDirectly[3]?.done(null, [{ address: '10.0.0.9', family: 4 }])
    expect(resolve('good')).toEqual([['10.0.0.9']])
    expect(asked.map(one => one.name)).toEqual(['dead1', 'dead2'])
    await pass(30_000)
    resolve('good')
    askedDirectly[4]?.done(NOT_FOUND, [])
    expect(resolve('good')).toEqual([['10.0.0.9']])
    expect(askedDirectly.length).toBe(5)
    await pass(5_000)
    resolve('good')
    expect(askedDirectly.length).toBe(6)
  })

  it('takes no failure of the second way for an answer, and prefers what the first one says', async () => {
    const { asked, askedDirectly, resolve, pass, clock } = stage()
    const [slow, both] = [resolve('slow'), resolve('both')]
    await pass(500)
    askedDirectly[0]?.done(NOT_FOUND, [])
    expect(slow).toEqual([])
    asked[0]?.done(null, GOOD)
    expect(slow).toEqual([['10.0.0.1', '10.0.0.2']])
    asked[1]?.done(null, [{ address: '10.0.0.9', family: 4 }])
    askedDirectly[1]?.done(null, GOOD)
    expect([both, resolve('both')]).toEqual([[['10.0.0.9']], [['10.0.0.9']]])
    expect(clock.pendingTimers).toBe(0)
  })

  it('keeps what the second way found when the first one fails at last', async () => {
    const { asked, askedDirectly, resolve, pass } = stage()
    const answers = resolve('good')
    await pass(500)
    askedDirectly[0]?.done(null, GOOD)
    asked[0]?.done(NOT_FOUND, [])
    expect(answers.length).toBe(1)
    expect(resolve('good')[0]).toHaveLength(2)
  })
})
