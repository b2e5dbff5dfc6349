import { describe, expect, it } from 'vitest'
import { RequestTrace, type Tracing } from '../../src/core/request-trace.js'
import { Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'

function tracing(): Tracing {
  let spans = 0
  const newSpanId = () => (++spans).toString(16).padStart(16, '0')
  return {
    begin: () => new RequestTrace({ traceId: TRACE, spanId: newSpanId(), flags: 1 }, null, false, newSpanId),
  }
}

const traced = (): Stage => new Stage({}, { tracing: tracing() })

describe('the trace of a request', () => {
  it('has each attempt with its times, and each wait between them', async () => {
    const stage = traced()
    const startMs = stage.clock.nowMs()
    stage.upstream.plays(fail('reset', { afterMs: 10 }), reply(503, { afterMs: 20 }), reply(200, { afterMs: 30 }))
    stage.get('/x')
    await stage.finish()
    const request = stage.of('request-finished')[0]?.trace?.request
    const times = request?.attempts.map(each => [each.number, each.startMs - startMs, (each.end?.atMs ?? 0) - startMs])
    expect(times).toEqual([
      [1, 0, 10],
      [2, 210, 230],
      [3, 630, 660],
    ])
    expect(request?.attempts.map(each => [each.end?.result, each.end?.status])).toEqual([
      ['reset', null],
      ['response', 503],
      ['response', 200],
    ])
    expect(request?.waits.map(wait => [wait.place, wait.startMs - startMs, wait.endMs - startMs])).toEqual([
      ['backoff', 10, 210],
      ['backoff', 230, 630],
    ])
  })

  it('ends an attempt whose answer breaks as cut, after its head', async () => {
    const stage = traced()
    stage.upstream.plays(reply(200, { bodyMs: 100, body: 'so far', cut: true }))
    stage.get()
    await stage.finish()
    const [event] = stage.of('request-finished')
    expect([event?.outcome, event?.trace?.request.attempts[0]?.end?.result]).toEqual(['cut', 'cut'])
  })

  it('names the request in the log, whether or not the app did', async () => {
    const stage = traced()
    stage.upstream.plays(reply(200))
    stage.get()
    stage.call('GET', '/x', { upstream: 'nobody' })
    await stage.finish()
    expect(stage.of('request-finished').map(event => event.traceId)).toEqual([TRACE, TRACE])
  })

  it('is not there at all, nor a field of it, unless somebody exports it', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200))
    stage.get()
    await stage.finish()
    expect(stage.of('request-finished')[0]).not.toHaveProperty('trace')
    expect(stage.upstream.sent[0]?.fields).not.toHaveProperty('traceparent')
  })
})
