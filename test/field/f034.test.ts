import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { nowMs, sleep } from '../e2e/harness/time.js'

const HEADS = {
  length: 'Content-Length: 100\r\n\r\nten bytes!',
  'no byte of it': 'Content-Length: 100\r\n\r\n',
  'all but one byte': 'Content-Length: 11\r\n\r\nten bytes!',
  chunks: 'Transfer-Encoding: chunked\r\n\r\na\r\nten bytes!\r\n',
  'half a chunk': 'Transfer-Encoding: chunked\r\n\r\nff\r\nten bytes!',
  'all but the last chunk': 'Transfer-Encoding: chunked\r\n\r\na\r\nten bytes!\r\n0\r\n',
  'a body until the end': 'Connection: close\r\n\r\nten bytes!',
}
type How = 'fin' | 'reset'

describe('F034 an upstream that dies in its body leaves the app waiting for ever (express#3089)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream(async (socket, head) => {
      const [, name = '', how] = /GET \/(\S+?)\/(\w+) HTTP/.exec(head) ?? []
      socket.write(`HTTP/1.1 200 OK\r\n${HEADS[decodeURIComponent(name) as keyof typeof HEADS]}`)
      await sleep(20)
      if (how === 'fin') socket.end()
      else socket.resetAndDestroy()
    })
    const spec = { retry: quickRetry({ maxAttempts: 3 }), budget: ample, breaker: { mode: 'observe' } }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  const cases = Object.keys(HEADS).flatMap(name => (['fin', 'reset'] as const).map((how): [string, How] => [name, how]))

  test.for(cases.filter(([name, how]) => name !== 'a body until the end' || how === 'reset'))(
    '%s, then a %s: the app’s connection ends at once and unclean, and nothing is sent again',
    async ([name, how]) => {
      const [sent, startedMs] = [hop.upstream.mark(), nowMs()]
      const path = `/${encodeURIComponent(name)}/${how}`
      const reply = await lastCall(hop.sidecar.port, `GET /u${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      expect(nowMs() - startedMs).toBeLessThan(2_000)
      expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(reply).not.toMatch(/\r\n0\r\n\r\n$|problem|HTTP\/1\.1 5/)
      expect(sent().match(/GET /g)?.length).toBe(1)
      // Its head was a success and ended the run before it.
      expect((await hop.sidecar.upstreamStatus('u')).breaker.failuresInARow).toBe(1)
      await expect(hop.sidecar.call(`/u${path}`)).rejects.toThrow()
    },
  )

  test('a body that has no other end than that of the connection is whole', async () => {
    const answer = await hop.sidecar.call(`/u/${encodeURIComponent('a body until the end')}/fin`)
    expect([answer.status, answer.text]).toEqual([200, 'ten bytes!'])
  })
})
