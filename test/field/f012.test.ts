import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { sleep, until } from '../e2e/harness/time.js'

const HANDSHAKE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n'
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

describe('F012 the retry wrapper breaks upgrades, or loses the tail of an answer that is flushed mid-way (traefik#13520)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = head.split(' ')
      if (path === '/reset') socket.resetAndDestroy()
      else if (path === '/503') socket.write('HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy')
      else if (path === '/switch-and-die') socket.write(SWITCH, () => socket.resetAndDestroy())
      else if (path === '/switch') socket.write(`${SWITCH}early`)
      else void pieces(socket, path)
    })
    const spec = { retry: quickRetry({ maxAttempts: 3 }), budget: ample, breaker: { mode: 'disabled' } }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  test.for([
    ['/reset', 502],
    ['/503', 503],
    ['/switch-and-die', 101],
  ] as const)('a handshake that meets %s is sent once', async ([path, status]) => {
    const before = hop.upstream.transcripts.length
    const reply = await lastCall(hop.sidecar.port, `GET /u${path} HTTP/1.1\r\nHost: a\r\n${HANDSHAKE}\r\n`)
    expect(reply.startsWith(`HTTP/1.1 ${status} `)).toBe(true)
    expect(hop.upstream.transcripts.length - before).toBe(1)
  })

  test('bytes right behind the 101, and right behind the handshake, arrive on the other side', async () => {
    const socket = connect(hop.sidecar.port, '127.0.0.1')
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    socket.write(`GET /u/switch HTTP/1.1\r\nHost: a\r\n${HANDSHAKE}\r\nfirst`)
    await until('the early bytes', () => got.endsWith('\r\n\r\nearly'))
    await until('the first bytes', () => hop.upstream.transcripts.at(-1)?.endsWith('\r\n\r\nfirst'))
    socket.destroy()
  })

  test.for(['/three-chunks', '/three-lengths', '/until-close'])(
    'an answer in pieces, %s, is the same bytes',
    async path => {
      const before = hop.upstream.transcripts.length
      const answer = await hop.sidecar.call(`/u${path}`)
      expect([answer.status, answer.text]).toEqual([200, 'one\0two\r\n\r\nthree'])
      expect(hop.upstream.transcripts.length - before).toBeLessThanOrEqual(1)
    },
  )

  test.for(['/three-chunks-and-die', '/three-lengths-and-die'])(
    'one that dies after its first piece, %s, is not begun anew',
    async path => {
      const before = hop.upstream.transcripts.join('').split(`GET ${path} `).length
      await expect(hop.sidecar.call(`/u${path}`)).rejects.toThrow()
      expect(hop.upstream.transcripts.join('').split(`GET ${path} `).length - before).toBe(1)
    },
  )
})

async function pieces(socket: Socket, path: string): Promise<void> {
  const parts = path.endsWith('die') ? ['one\0'] : ['one\0', 'two\r\n\r\n', 'three']
  const chunked = path.startsWith('/three-chunks')
  const framing = chunked
    ? 'Transfer-Encoding: chunked'
    : path === '/until-close'
      ? 'Connection: close'
      : 'Content-Length: 16'
  socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`)
  for (const part of parts) {
    await sleep(20)
    socket.write(chunked ? `${part.length.toString(16)}\r\n${part}\r\n` : part)
  }
  if (chunked && parts.length === 3) socket.write('0\r\n\r\n')
  if (path === '/until-close') socket.end()
  if (path.endsWith('die')) socket.destroy()
}
