import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const BIG = 'x'.repeat(65_536)
const DISCARDED: Readonly<Record<string, string>> = {
  '/endless': `Transfer-Encoding: chunked\r\n\r\n10000\r\n${BIG}\r\n`,
  '/declared': `Content-Length: 1048576\r\n\r\n${BIG}`,
  '/silent': 'Content-Length: 10\r\n\r\n',
  '/until-close': `Connection: close\r\n\r\n${BIG}`,
  '/small': 'Content-Length: 4\r\n\r\nbusy',
}

describe('F037 answers thrown away before a retry keep their sockets, and the pool starves (undici, on consuming bodies)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = / (\S+) HTTP\/1\.1\r\n/.exec(head) ?? []
      const first = !/forbear-attempt: 3\r/i.test(head)
      socket.write(first ? `HTTP/1.1 503 Busy\r\n${DISCARDED[path]}` : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const spec = {
      retry: quickRetry({ maxAttempts: 3 }),
      budget: ample,
      breaker: { mode: 'observe' },
      pool: { maxConnections: 2 },
      timeouts: { total: '10s' },
    }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  test.for(Object.keys(DISCARDED))(
    '20 calls over two connections, each with two discarded answers (%s), are served',
    async path => {
      const calls = Array.from({ length: 20 }, () => hop.sidecar.call(`/u${path}`, { timeoutMs: 10_000 }))
      const answers = await Promise.all(calls)
      expect(answers.map(one => [one.status, one.text, one.headers['forbear-attempts']])).toEqual(
        Array(20).fill([200, 'ok', '3']),
      )
      await expect.poll(() => hop.upstream.sockets.size).toBeLessThanOrEqual(2)
    },
  )
})
