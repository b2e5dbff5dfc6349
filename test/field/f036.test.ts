import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { freePort } from '../e2e/harness/ports.js'

const hasIpv6 = await new Promise<boolean>(resolve => {
  const server = createServer().once('error', () => resolve(false))
  server.listen(0, '::1', () => server.close(() => resolve(true)))
})
if (!hasIpv6) console.warn('this machine has no ::1: the tests of F036 that need it are skipped')

describe('F036 localhost is ::1 first, so whoever is bound to 127.0.0.1 is refused (node#40702)', () => {
  const hop = onOneStage(async stage => {
    const port = await freePort()
    const upstream = (await stage.upstream()).plays({ body: 'over 127.0.0.1' })
    const target = `http://localhost:${upstream.port}`
    const spec = { retry: { maxAttempts: 1 }, breaker: { mode: 'disabled' } }
    const docs = [upstreamDoc('named', target, { ...spec, listen: `localhost:${port}` })]
    const six = createServer((_request, response) => response.end('over ::1'))
    if (hasIpv6) {
      await new Promise<void>(resolve => six.listen(0, '::1', resolve))
      docs.push(upstreamDoc('six', `http://localhost:${(six.address() as { port: number }).port}`, spec))
      docs.push(upstreamDoc('literal', `http://[::1]:${(six.address() as { port: number }).port}`, spec))
    }
    stage.later(async () => six.close())
    return { port, sidecar: await stage.sidecar(docs) }
  })

  test.for(['127.0.0.1', 'localhost', ...(hasIpv6 ? ['[::1]'] : [])])(
    'the sidecar listens where %s leads',
    async host => {
      const answer = await fetch(`http://${host}:${hop.port}/x`)
      expect([answer.status, await answer.text()]).toEqual([200, 'over 127.0.0.1'])
    },
  )

  test('and logs each address that it has bound', () => {
    const bound = hop.sidecar.logs.filter(line => line['msg'] === 'listening' && line['upstream'] === 'named')
    const expected = [`127.0.0.1:${hop.port}`, ...(hasIpv6 ? [`[::1]:${hop.port}`] : [])]
    expect(bound.map(line => line['address']).sort()).toEqual(expected.sort())
  })

  test('an upstream named localhost that listens on IPv4 only is reached in one attempt', async () => {
    const answer = await hop.sidecar.call('/named/x')
    expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, 'over 127.0.0.1', '1'])
  })

  test.skipIf(!hasIpv6)('so is one that listens on IPv6 only, by name and by address', async () => {
    for (const name of ['six', 'literal']) {
      const answer = await hop.sidecar.call(`/${name}/x`)
      expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, 'over ::1', '1'])
    }
  })
})
