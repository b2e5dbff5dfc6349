import { describe, expect, test } from 'vitest'
import { lastCall, problem } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const KIB_17 = 'c'.repeat(17 * 1024)

describe('F028 a head above the limit is a nameless 500 from upstream, a bare status without a log from the app (angular-cli#25334)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = / (\S+) HTTP\/1\.1\r\n/.exec(head) ?? []
      const fields = path === '/one' ? `X: ${KIB_17}\r\n` : path === '/many' ? 'Abc: defghijk\r\n'.repeat(2_000) : ''
      const interim = path === '/interim' ? `HTTP/1.1 103 Early Hints\r\nX: ${KIB_17}\r\n\r\n` : ''
      socket.write(`${interim}HTTP/1.1 200 OK\r\n${fields}Content-Length: 2\r\n\r\nok`)
    })
    const docs = [upstreamDoc('u', upstream.url, { retry: quickRetry({ maxAttempts: 3 }), budget: ample })]
    const wide = ['env', 'NODE_OPTIONS=--max-http-header-size=65536']
    return { upstream, sidecar: await stage.sidecar(docs), wide: await stage.sidecar(docs, [], { through: wide }) }
  })

  test.for(['/one', '/many', '/interim'])(
    'an answer with too large a head (%s) is 502 and says so, once',
    async path => {
      const sent = hop.upstream.mark()
      const answer = await hop.sidecar.call(`/u${path}`)
      expect([answer.status, problem(answer).reason, answer.headers['forbear-attempts']]).toEqual([
        502,
        'bad-response',
        '1',
      ])
      expect(problem(answer).detail).toMatch(/HEADERS_OVERFLOW/)
      expect(sent().match(/GET \S+ HTTP/g)?.length).toBe(1)
      expect(await hop.sidecar.accessLine(`/u${path}`)).toMatchObject({
        outcome: 'bad-response',
        status: 502,
        flags: 'UPE',
      })
    },
  )

  test.for([
    ['Cookie', `GET /u/x HTTP/1.1\r\nHost: a\r\nCookie: ${KIB_17}\r\n\r\n`],
    ['target', `GET /u/x?${KIB_17} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['trailer', `PUT /u/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ${KIB_17}\r\n\r\n`],
  ] as const)(
    'a request with too large a %s is 431 with a reason, is logged, and reaches no upstream',
    async ([, bytes]) => {
      const [sent, lines] = [hop.upstream.mark(), hop.sidecar.logs.length]
      const reply = await lastCall(hop.sidecar.port, bytes)
      expect(reply).toMatch(/^HTTP\/1\.1 431 [^]*"reason":"headers-too-large"/)
      await expect.poll(() => JSON.stringify(hop.sidecar.logs.slice(lines))).toContain('headers-too-large')
      expect(sent()).not.toMatch(/ccc/)
      expect(hop.sidecar.output).not.toContain('cccccc')
    },
  )

  test('neither is held against the upstream more than any bad answer', async () => {
    await lastCall(hop.sidecar.port, `GET /u/x HTTP/1.1\r\nHost: a\r\nCookie: ${KIB_17}\r\n\r\n`)
    await hop.sidecar.call('/u/fine')
    expect((await hop.sidecar.upstreamStatus('u')).breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
  })

  test('the limit can be raised, for both sides alike', async () => {
    const sent = hop.upstream.mark()
    const fields = `Host: a\r\nConnection: close\r\nCookie: ${KIB_17}\r\n`
    const reply = await lastCall(hop.wide.port, `GET /u/one HTTP/1.1\r\n${fields}\r\n`)
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\nX: c{17408}\r\n[^]*\r\n\r\nok$/)
    expect(sent()).toContain(KIB_17)
  })
})
