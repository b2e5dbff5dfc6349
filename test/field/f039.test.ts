import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { sleep } from '../e2e/harness/time.js'
import { RawClient } from '../proxy/support/raw-client.js'

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

describe('F039 after a 101 a socket error is nobody’s, and takes every other session down (teamclaude#148)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = /GET (\S+) HTTP/.exec(head) ?? []
      if (path === '') return
      socket.write(SWITCH)
      socket.on('data', bytes => {
        const text = bytes.toString('latin1')
        if (text.endsWith('reset me')) socket.resetAndDestroy()
        else if (text.endsWith('end me')) socket.end()
        else socket.write(`<${text.split('\r\n').at(-1)}>`)
      })
    })
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url)]) }
  })

  async function session(): Promise<RawClient> {
    const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
    client.send('GET /u/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await client.untilHas('\r\n\r\n')
    return client
  }
  async function echoes(client: RawClient, text: string): Promise<void> {
    client.send(text)
    await client.untilHas(`<${text}>`)
  }

  const ends: Readonly<Record<string, (client: RawClient) => void>> = {
    'the upstream resets': client => client.send('reset me'),
    'the upstream ends': client => client.send('end me'),
    'the app resets': client => client.socket.resetAndDestroy(),
    'the app ends': client => client.socket.end(),
    'the app is destroyed while bytes come': client => {
      client.send('x'.repeat(1_000_000))
      client.destroy()
    },
  }

  test.for(Object.keys(ends))('of ten sessions one breaks as %s: only that pair closes', async how => {
    const sessions = await Promise.all(Array.from({ length: 10 }, session))
    await Promise.all(sessions.map((client, n) => echoes(client, `hello ${n}`)))
    const [broken, ...others] = sessions
    await sleep(5)
    const before = hop.upstream.sockets.size
    if (broken) ends[how]?.(broken)
    await broken?.untilClosed()
    await expect.poll(() => hop.upstream.sockets.size).toBe(before - 1)
    await Promise.all(others.map((client, n) => echoes(client, `still here ${n}`)))
    for (const client of others) client.destroy()
    await expect.poll(() => hop.upstream.sockets.size).toBe(0)
  })

  test('a broken session is one line in the log, at no more than warn', () => {
    const lines = hop.sidecar.logs.filter(line => line['msg'] === 'tunnel broken')
    expect(lines.length).toBeLessThanOrEqual(5)
    expect(lines.length).toBeGreaterThanOrEqual(2)
    expect(hop.sidecar.errorLines()).toEqual([])
    expect(hop.sidecar.exit).toBeNull()
  })
})
