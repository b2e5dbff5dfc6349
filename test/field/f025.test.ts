import { describe, expect, test } from 'vitest'
import { lastCall, open } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-One: 1\r\n\r\n'
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const BUSY = 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n'

describe('F025 interim answers are taken for the final one, or dropped (node#9282, undici#5712)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = / (\S+) HTTP\/1\.1\r\n/.exec(head) ?? []
      const first = /forbear-attempt: 1\r/i.test(head)
      if (path === '/x') socket.write(EARLY + PROCESSING + OK)
      else if (path === '/fails') socket.write(EARLY + (first ? BUSY : OK))
      else if (path === '/then-resets') socket.write(EARLY, () => (first ? socket.resetAndDestroy() : socket.write(OK)))
      else if (path === '/then-hangs') socket.write(first ? EARLY : OK)
      else if (path === '/100') socket.write(`HTTP/1.1 100 Continue\r\n\r\n${OK}`)
      else if (path === '/flood') socket.write(EARLY.repeat(500) + OK)
      else if (path === '/199') socket.write(`HTTP/1.1 199 Own\r\nX: 1\r\n\r\n${OK}`)
    })
    const spec = {
      retry: quickRetry({ maxAttempts: 2 }),
      budget: ample,
      timeouts: { attempt: '300ms' },
      breaker: { mode: 'enforce', consecutiveFailures: 0, minRequests: 1000 },
    }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  test('103 and 102 are passed on with their fields, then the one final answer', async () => {
    const reply = await lastCall(hop.sidecar.port, 'GET /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(reply).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\nX-One: 1\r\n/)
    expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 103', 'HTTP/1.1 102', 'HTTP/1.1 200'])
    expect(reply).toMatch(/\r\n\r\nok$/)
  })

  test('one that means nothing to us is passed on, too', async () => {
    expect((await hop.sidecar.call('/u/199')).interim).toEqual([199])
  })

  test('HTTP/1.0 gets the final answer only', async () => {
    const reply = await lastCall(hop.sidecar.port, 'GET /u/x HTTP/1.0\r\nHost: a\r\n\r\n')
    expect(reply).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok$/)
  })

  test.for(['/fails', '/then-resets', '/then-hangs'])('they are no answer: %s is repeated', async path => {
    const answer = await hop.sidecar.call(`/u${path}`)
    expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, 'ok', '2'])
  })

  test('they feed no breaker', async () => {
    const before = await hop.sidecar.metrics()
    await hop.sidecar.call('/u/x')
    const after = await hop.sidecar.metrics()
    expect(after.sum('forbear_attempts_total') - before.sum('forbear_attempts_total')).toBe(1)
    expect((await hop.sidecar.upstreamStatus('u')).breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
  })

  test.for(['/100', '/flood'])('an upstream that sends %s without being asked is not believed', async path => {
    const answer = await hop.sidecar.call(`/u${path}`)
    expect([answer.status, answer.headers['forbear-outcome']]).toEqual([502, 'bad-response'])
  })

  test('an app that leaves between them ends the attempt', async () => {
    const leaving = new AbortController()
    const answered = open(hop.sidecar.port, '/u/then-hangs', { signal: leaving.signal }, () => leaving.abort())
    await expect(answered).rejects.toThrow()
    await expect.poll(async () => (await hop.sidecar.upstreamStatus('u')).inFlight).toBe(0)
  })
})
