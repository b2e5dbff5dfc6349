import { describe, expect, test } from 'vitest'
import { lastCall } from './harness/client.js'
import { onOneStage } from './harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'

const SECRETS = [
  'Authorization: Bearer sesame-1',
  'Cookie: sid=sesame-2',
  'Idempotency-Key: sesame-3',
  'X-Api-Key: sesame-4',
  'Proxy-Authorization: Basic sesame-5',
  'baggage: sesame-6=1',
  'forbear-upstream: sesame-7',
].join('\r\n')

describe('no secret of a request or an answer', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = / (\S+) HTTP\/1\.1\r\n/.exec(head) ?? []
      if (path.startsWith('/reset')) socket.resetAndDestroy()
      else if (path.startsWith('/bad')) socket.write('HTTP/1.1 200 OK\r\nX: sesame-8\0\r\n\r\n')
      else socket.write('HTTP/1.1 503 sesame-9\r\nSet-Cookie: sesame-10\r\nContent-Length: 9\r\n\r\nsesame-11')
    })
    const spec = { retry: quickRetry({ maxAttempts: 2 }), budget: ample, breaker: { mode: 'observe' } }
    const args = ['--log-level', 'debug']
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)], args) }
  })
  const ask = (line: string, more = ''): Promise<string> =>
    lastCall(hop.sidecar.port, `${line}\r\nHost: a\r\nConnection: close\r\n${SECRETS}\r\n${more}\r\n`)

  test('is in logs, metrics, status, policies or an answer of ours, whatever became of the call', async () => {
    const own = [
      await ask('GET /u/reset?sesame-13 HTTP/1.1'),
      await ask('POST /u/bad?sesame-13 HTTP/1.1', 'Content-Length: 0\r\n'),
      await ask('GET /nobody/x?sesame-13 HTTP/1.1'),
      await ask('GET http://user:sesame-14@elsewhere.test/x HTTP/1.1'),
      await ask('GET http://elsewhere.test/x?sesame-13 HTTP/1.1'),
      await ask('CONNECT elsewhere.test:443 HTTP/1.1'),
      await ask('GET /u/x?sesame-13 HTTP/1.1', 'Content-Length: sesame-17\r\n'),
      await ask('GET /u/x?sesame-13 HTTP/1.1', 'Transfer-Encoding: sesame-17\r\n'),
      await ask('GET /u/x?sesame-13 HTTP/1.1', 'Expect: sesame-17\r\n'),
      await ask('GET /u/x?sesame-13#sesame-18 HTTP/1.1'),
      await ask('GET /u/x?sesame-13 HTTP/1.1', `X: ${'sesame-19'.repeat(3_000)}\r\n`),
      await ask('GET /u/reset?sesame-13 HTTP/1.1', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    ]
    await ask('GET /u/x?sesame-13 HTTP/1.1')
    await hop.sidecar.accessLine('/u/x')
    for (const answer of own) {
      expect(answer).toMatch(/^HTTP\/1\.1 [45]\d\d /)
      expect(answer).not.toContain('sesame')
    }
    const pages = await Promise.all(['/metrics', '/status', '/policies', '/'].map(path => hop.sidecar.admin(path)))
    for (const page of pages) expect(page.text).not.toContain('sesame')
    expect(hop.sidecar.output).not.toContain('sesame')
  })

  test('and nothing that is odd in a path or a Host breaks a line of the log or an answer of ours', async () => {
    const lines = hop.sidecar.output.split('\n').length
    const reply = await ask('GET /nobody/"%0d%0aX:1\\{}<script>?a HTTP/1.1')
    expect(reply).toMatch(/^HTTP\/1\.1 404 /)
    expect(() => JSON.parse(reply.slice(reply.indexOf('\r\n\r\n') + 4))).not.toThrow()
    expect(reply).not.toContain('<script>')
    await expect.poll(() => hop.sidecar.output.split('\n').length).toBe(lines + 1)
  })
})
