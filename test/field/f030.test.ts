import { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { sleep } from '../e2e/harness/time.js'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
/** Longer than what counts as idle (100 ms). */
const IDLE_MS = 150

describe('F030 an idle connection that the upstream closes as it is used fails the request (node#47130)', () => {
  const hop = onOneStage(async stage => {
    /** Requests answered per connection; the next one meets what its path says. */
    const served = new WeakMap<Socket, number>()
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = / (\S+) HTTP\/1\.1\r\n/.exec(head) ?? []
      const before = served.get(socket) ?? 0
      served.set(socket, before + 1)
      if (path === '/first' || (before === 0 && path !== '/always')) socket.write(OK)
      else if (path === '/fin') socket.end()
      else if (path === '/begun') socket.write('HTTP/1.1 2', () => sleep(10).then(() => socket.resetAndDestroy()))
      else socket.resetAndDestroy()
    })
    const polite = await stage.upstream()
    polite.server.keepAliveTimeout = 1
    const spec = { retry: { maxAttempts: 1 }, timeouts: { total: '5s' } }
    const docs = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => upstreamDoc(name, upstream.url, spec))
    return { upstream, sidecar: await stage.sidecar([...docs, upstreamDoc('polite', polite.url, spec)]) }
  })

  /** One call that makes a connection, and one that meets its end after it was idle. */
  async function afterIdle(name: string, path: string, method = 'GET') {
    await hop.sidecar.call(`/${name}/first`)
    await sleep(IDLE_MS)
    const sent = hop.upstream.mark()
    const answer = await hop.sidecar.call(`/${name}${path}`, { method })
    return { answer, count: sent().match(new RegExp(`${method} ${path} `, 'g'))?.length ?? 0 }
  }

  test.for([
    ['GET', '/reset'],
    ['GET', '/fin'],
    ['PUT', '/reset'],
  ] as const)('%s %s is sent again at once on a fresh connection, at no cost', async ([method, path]) => {
    const before = await hop.sidecar.metrics()
    const { answer, count } = await afterIdle('a', path, method)
    expect([answer.status, count]).toEqual([200, 2])
    const after = await hop.sidecar.metrics()
    for (const name of ['forbear_retries_total', 'forbear_retries_denied_total'])
      expect(after.sum(name)).toBe(before.sum(name))
    const { breaker } = await hop.sidecar.upstreamStatus('a')
    expect(breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
  })

  test('a POST is not: the upstream may have acted on it', async () => {
    const { answer, count } = await afterIdle('b', '/reset', 'POST')
    expect([answer.status, answer.headers['forbear-outcome'], count]).toEqual([502, 'reset', 1])
  })

  test('nor is a GET of whose answer bytes have come', async () => {
    const { answer, count } = await afterIdle('c', '/begun')
    expect([answer.status, count]).toEqual([502, 1])
  })

  test('nor one whose fresh connection is reset as well', async () => {
    const { answer, count } = await afterIdle('d', '/always')
    expect([answer.status, answer.headers['forbear-outcome'], count]).toEqual([502, 'reset', 2])
  })

  test('nor one on a connection that was busy a moment ago', async () => {
    const agent = new Agent({ keepAlive: true })
    await hop.sidecar.call('/e/first', { agent })
    const answer = await hop.sidecar.call('/e/reset', { agent })
    agent.destroy()
    expect([answer.status, answer.headers['forbear-outcome']]).toEqual([502, 'reset'])
  })

  test('an upstream that resets whatever is reused gets no endless stream of second calls', async () => {
    const statuses = []
    for (let n = 0; n < 8; n++) statuses.push((await afterIdle('f', '/reset')).answer.status)
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200])
    expect(statuses).toContain(502)
  })

  test('an upstream that closes politely after a moment is no trouble at all', async () => {
    const statuses = new Set()
    for (let n = 0; n < 40; n++) {
      statuses.add((await hop.sidecar.call('/polite/x')).status)
      await sleep(n % 8)
    }
    expect([...statuses]).toEqual([200])
  })
})
