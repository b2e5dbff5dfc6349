import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F011 fields of a failed attempt leak into the final answer, or take its place (traefik#4299)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = head.split(' ')
      const attempt = /forbear-attempt: (\d)/i.exec(head)?.[1] ?? ''
      const answer = ANSWERS[path.slice(1)]?.[Number(attempt) - 1]
      if (answer === 'reset') socket.resetAndDestroy()
      else if (answer !== undefined) socket.write(answer, 'latin1')
    })
    const spec = {
      retry: quickRetry({ maxAttempts: 3, retryAfter: { cap: '2s' } }),
      budget: ample,
      timeouts: { attempt: '150ms', total: '5s' },
      breaker: { mode: 'disabled' },
    }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  const ask = async (path: string): Promise<string> =>
    lastCall(hop.sidecar.port, `GET /u/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)

  test('only the last attempt is seen, byte for byte', async () => {
    const reply = await ask('fields')
    expect(reply).toMatch(/^HTTP\/1\.1 200 Fine\r\nX-Attempt: two\r\nSet-Cookie: b=2\r\nContent-Length: 3\r\n/)
    expect(reply).toMatch(/\r\n\r\ntwo$/)
    expect(reply).not.toMatch(/a=1|one|retry-after|etag|trailer|forbear-attempts: 1/i)
  })

  test.for([
    ['a body of another length and framing', 'framing'],
    ['interim answers, which are passed on as they come', 'interim'],
    ['an answer that broke before its body', 'cut'],
    ['a reset', 'reset'],
    ['nothing at all', 'nothing'],
    ['a body that never ends', 'endless'],
  ] as const)('an attempt before it with %s leaves no trace', async ([, path]) => {
    const reply = (await ask(path)).replace(/^HTTP\/1\.1 103 [^]*?\r\n\r\n/, '')
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Attempt: two\r\nContent-Length: 3\r\n[^]*\r\n\r\ntwo$/)
    expect(reply).not.toMatch(/x-first/i)
  })

  test('the fields of an answer that was kept come back whole when a later attempt gets none', async () => {
    const reply = await ask('kept')
    expect(reply).toMatch(/^HTTP\/1\.1 503 Busy\r\nX-First: 1\r\nRetry-After: 0\r\n[^]*\r\n\r\nbusy$/)
    expect(reply).toContain('forbear-outcome: retries-exhausted')
  })
})

const TWO = 'HTTP/1.1 200 OK\r\nX-Attempt: two\r\nContent-Length: 3\r\n\r\ntwo'
const busy = (fields: string, body: string): string => `HTTP/1.1 503 Busy\r\nX-First: 1\r\n${fields}\r\n${body}`
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  fields: [
    'HTTP/1.1 503 Busy\r\nSet-Cookie: a=1\r\nX-Attempt: one\r\nRetry-After: 0\r\nETag: "1"\r\nTrailer: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\nx: 1\r\n\r\n',
    'HTTP/1.1 200 Fine\r\nX-Attempt: two\r\nSet-Cookie: b=2\r\nContent-Length: 3\r\n\r\ntwo',
  ],
  framing: [busy('Transfer-Encoding: chunked\r\n', '5\r\nfirst\r\n0\r\n\r\n'), TWO],
  interim: [`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${busy('Content-Length: 0\r\n', '')}`, TWO],
  cut: [busy('Content-Length: 10\r\nConnection: close\r\n', 'x'), TWO],
  reset: ['reset', TWO],
  nothing: ['', TWO],
  endless: [busy('Transfer-Encoding: chunked\r\n', '5\r\nfirst\r\n'), TWO],
  kept: [busy('Retry-After: 0\r\nContent-Length: 4\r\n', 'busy'), 'reset', 'reset'],
}
