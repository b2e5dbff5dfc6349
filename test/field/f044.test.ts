import { describe, expect, test } from 'vitest'
import { problem } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { sleep } from '../e2e/harness/time.js'

/** One byte of `text` after the other. */
async function drip(write: (text: string) => boolean, text: string): Promise<void> {
  for (const byte of text) {
    if (!write(byte)) return
    await sleep(20)
  }
}

describe('F044 a time-out that restarts with each byte never cuts an upstream that drips (measured on both proxies)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream(async (socket, head) => {
      const [, path = ''] = / (\S+) HTTP\/1\.1\r\n/.exec(head) ?? []
      const write = (text: string): boolean => !socket.destroyed && socket.write(text)
      if (path === '/head') await drip(write, `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200)}\r\n\r\n`)
      else if (path === '/interim')
        for (let n = 0; n < 90; n++) await drip(write, 'HTTP/1.1 103 E\r\n\r\n').then(() => sleep(20))
      else if (path === '/pause') write('HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n')
    })
    const bodies = (await stage.upstream()).runs(async ({ res }) => {
      res.writeHead(200, { 'content-length': '30' })
      await drip(text => !res.destroyed && (res.write(text), true), 'b'.repeat(30))
      res.end()
      return undefined
    })
    const spec = { retry: quickRetry({ maxAttempts: 2 }), budget: ample, breaker: { mode: 'disabled' } }
    const clocks = { attempt: '150ms', total: '2s', idle: '300ms' }
    return {
      upstream,
      sidecar: await stage.sidecar([
        upstreamDoc('u', upstream.url, { ...spec, timeouts: clocks }),
        upstreamDoc('bodies', bodies.url, { ...spec, timeouts: { ...clocks, total: '200ms' } }),
        upstreamDoc('limited', bodies.url, { ...spec, timeouts: { ...clocks, response: '200ms' } }),
      ]),
    }
  })

  test.for(['/head', '/interim'])(
    'dripped bytes of a head (%s) trip the attempt clock, on every attempt',
    async path => {
      const answer = await hop.sidecar.call(`/u${path}`)
      expect([answer.status, problem(answer).reason, answer.headers['forbear-attempts']]).toEqual([
        504,
        'attempt-timeout',
        '2',
      ])
      expect(answer.elapsedMs).toBeLessThan(1_500)
    },
  )

  test('a dripped body is cut neither by the attempt clock nor by the total, whose end is the accepted head', async () => {
    const answer = await hop.sidecar.call('/bodies/x')
    expect([answer.status, answer.body.length]).toEqual([200, 30])
    expect(answer.elapsedMs).toBeGreaterThan(300)
  })

  test('response, the clock of the whole answer, cuts it', async () => {
    await expect(hop.sidecar.call('/limited/x')).rejects.toThrow()
    expect(await hop.sidecar.accessLine('/limited/x')).toMatchObject({ status: 200, attempts: 1 })
  })

  test('a body that pauses for longer than idle is cut', async () => {
    await expect(hop.sidecar.call('/u/pause')).rejects.toThrow()
  })
})
