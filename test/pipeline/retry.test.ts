import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

describe('what may be repeated', () => {
  it('serves a GET that failed twice, with the attempts counted', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(503), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 3')
    expect(stage.upstream.times).toEqual([0, 210, 620])
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['1', '2', '3'])
  })

  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])('repeats %s, which is idempotent', async method => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.call(method, '/')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it.each(['POST', 'PATCH', 'LOCK'])('passes the answer to a failed %s on as it is', async method => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { body: 'down', headers: { 'x-why': 'storm' } }), reply(200))
    const call = stage.call(method, '/', { bodyBytes: 10 })
    await stage.finish()
    expect(call.summary).toBe('503 not-repeatable after 1')
    expect(call.text).toBe('down')
    expect(call.header('x-why')).toBe('storm')
    expect(stage.upstream.sent).toHaveLength(1)
    expect(stage.denials).toEqual(['not-repeatable'])
  })

  it.each([
    ['reset', fail('reset'), '502 reset after 1'],
    ['a silent upstream', hang(), '504 attempt-timeout after 1'],
  ] as const)('does not repeat a POST after %s', async (_name, play, summary) => {
    const stage = new Stage()
    stage.upstream.plays(play, reply(200))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe(summary)
  })

  it('repeats a POST after connect, because nothing was sent', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect'), fail('connect'), reply(201))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe('201 delivered after 3')
  })
})
