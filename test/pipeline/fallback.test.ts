import { describe, expect, it } from 'vitest'
import type { FallbackCause } from '../../src/core/fallback.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const given = (...when: FallbackCause[]): PolicyPart => ({
  fallback: { when: new Set(when), status: 200, headers: ['content-type', 'text/plain'], body: 'static' },
})

describe('a fallback', () => {
  it('takes the place of the last answer when the attempts are used up', async () => {
    const stage = new Stage(given('retries-exhausted'))
    stage.upstream.plays(reply(503))
    const call = stage.get('/')
    await stage.finish()
    expect([call.status, call.outcome, call.attempts, call.text]).toEqual([200, 'fallback', 5, 'static'])
    expect(call.header('content-type')).toBe('text/plain')
    expect(stage.of('fallback-given')).toMatchObject([{ cause: 'retries-exhausted' }])
    expect(stage.finishedOf(call)).toMatchObject({ status: 200, outcome: 'fallback', denied: 'retries-exhausted' })
  })

  it('is given by the same word when nobody could be connected to', async () => {
    const stage = new Stage(given('retries-exhausted'))
    stage.upstream.plays(fail('connect'))
    const call = stage.get('/')
    await stage.finish()
    expect(call.outcome).toBe('fallback')
  })

  it('is given by the word for the last failure, too', async () => {
    const stage = new Stage(given('connect'))
    stage.upstream.plays(fail('connect'))
    const call = stage.get('/')
    await stage.finish()
    expect([call.outcome, stage.of('fallback-given')[0]?.cause]).toEqual(['fallback', 'connect'])
  })

  it('is given while the breaker is open, without an attempt', async () => {
    const stage = new Stage(given('breaker-open'))
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const call = stage.get('/')
    await stage.run(0)
    expect(call.summary).toBe('200 fallback after 0')
  })

  it('is given at the deadline', async () => {
    const stage = new Stage({ ...given('deadline'), timeouts: { totalMs: 500, attemptMs: 300 } })
    stage.upstream.plays(hang())
    const call = stage.get('/')
    await stage.finish()
    expect(call.outcome).toBe('fallback')
  })

  it('is not given for a cause that the policy does not name', async () => {
    const stage = new Stage(given('breaker-open'))
    stage.upstream.plays(reply(503))
    const call = stage.get('/')
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 5')
  })

  it('is never given for an answer that is not worth a retry', async () => {
    const stage = new Stage(given('retries-exhausted', 'bad-response'))
    stage.upstream.plays(reply(500), reply(404))
    const calls = [stage.get('/1'), stage.get('/2')]
    await stage.finish()
    expect(calls.map(call => call.summary).sort()).toEqual(['404 delivered after 1', '500 delivered after 1'])
  })

  it('is never given for a write, unless the policy says so', async () => {
    const stage = new Stage(given('retries-exhausted', 'connect', 'reset'))
    stage.upstream.plays(fail('connect'))
    const call = stage.post('/')
    await stage.finish()
    expect(call.outcome).toBe('connect')
    stage.apply([
      {
        policy: {
          fallback: {
            when: new Set<FallbackCause>(['connect']),
            methods: new Set(['POST']),
            status: 503,
            body: 'later',
          },
        } as never,
      },
    ])
    const second = stage.post('/second')
    await stage.finish()
    expect([second.status, second.outcome, second.text]).toEqual([503, 'fallback', 'later'])
  })

  it('is never given for a CONNECT: it would be a tunnel to nowhere', async () => {
    const methods = new Set(['GET', 'CONNECT'])
    const stage = new Stage({ fallback: { when: new Set<FallbackCause>(['connect']), methods, status: 200 } })
    stage.upstream.plays(fail('connect'))
    const call = stage.tunnel('api.example.com:80')
    await stage.finish()
    expect(call.summary).toMatch(/^502 connect/)
  })

  it('has its body from a file, and is not given while that cannot be read', async () => {
    const file = (path: string): PolicyPart => ({ fallback: { when: new Set<FallbackCause>(['connect']), file: path } })
    const stage = new Stage(file('/there'))
    stage.upstream.plays(fail('connect'))
    const call = stage.get('/1')
    await stage.finish()
    expect(call.text).toBe('from the file')
    stage.apply([{ policy: file('/gone') }])
    const second = stage.get('/2')
    await stage.finish()
    expect(second.outcome).toBe('connect')
  })
})
