import { createHash, randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { open, problem } from '../e2e/harness/client.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { test } from '../e2e/harness/stage.js'
import { sleep, until } from '../e2e/harness/time.js'

const MIB = 1_048_576

describe.concurrent('F129 a forced exit after two seconds kills the work in progress (rakazo#605)', () => {
  test('(a) a call in a back-off of 20 s gets the answer it has, when the period ends, and no attempt more', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ status: 503, body: 'busy' })
    const backoff = { kind: 'fixed', base: '20s', jitter: 'none' }
    const sidecar = await stage.sidecar(
      [upstreamDoc('u', upstream.url, { retry: { backoff }, timeouts: { total: '60s' } })],
      ['--drain-period', '1s'],
    )
    const waiting = sidecar.call('/u/x')
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    const answer = await waiting
    expect([answer.status, answer.text, answer.headers['forbear-outcome']]).toEqual([503, 'busy', 'draining'])
    expect(answer.elapsedMs).toBeLessThan(15_000)
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
    expect(upstream.hits).toBe(1)
  })

  test('(a) a back-off that ends within the period is followed by its attempt', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 }, { body: 'fine' })
    const backoff = { kind: 'fixed', base: '800ms', jitter: 'none' }
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, { retry: { backoff } })])
    const waiting = sidecar.call('/u/x')
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    expect((await waiting).text).toBe('fine')
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
  })

  test('(b) a download of 10 MB and an upload of 10 MB, both at half, finish whole', async ({ stage }) => {
    const block = randomBytes(MIB)
    const expected = createHash('sha256')
    for (let n = 0; n < 10; n++) expected.update(block)
    const sha256 = expected.digest('hex')
    const upstream = (await stage.upstream()).runs(async ({ received, res }) => {
      if (received.method === 'PUT') return { body: received.bodySha256 }
      res.writeHead(200, { 'content-length': 10 * MIB })
      for (let n = 0; n < 10; n++) {
        res.write(block)
        await sleep(250)
      }
      res.end()
      return undefined
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    const slowly = async function* (): AsyncGenerator<Buffer> {
      for (let n = 0; n < 10; n++) {
        yield block
        await sleep(250)
      }
    }
    const download = sidecar.call('/u/x')
    const upload = sidecar.call('/u/x', { method: 'PUT', body: slowly() })
    await sleep(1_000)
    sidecar.signal('SIGTERM')
    const [down, up] = await Promise.all([download, upload])
    expect(createHash('sha256').update(down.body).digest('hex')).toBe(sha256)
    expect([up.status, up.text]).toEqual([200, sha256])
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
  })

  test('(b) a download that does not fit the period is broken off, not ended as if it were whole', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).runs(async ({ res }) => {
      for (let n = 0; n < 200 && !res.destroyed; n++) {
        res.write('drip')
        await sleep(50)
      }
      res.end()
      return undefined
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], ['--drain-period', '500ms'])
    const res = await open(sidecar.port, '/u/x')
    sidecar.signal('SIGTERM')
    await expect(res.toArray()).rejects.toThrow(/aborted|ECONNRESET/)
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
  })

  test('(c) calls that queue at the limit are served in turn, and those left at the end get 503 with a reason', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ delayMs: 100, body: 'fine' })
    const spec = { limits: { maxInFlight: 1 }, retry: quickRetry(), budget: ample }
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, spec)], ['--drain-period', '1s'])
    const calls = Array.from({ length: 40 }, (_, n) => sidecar.call(`/u/${n}`))
    await until('the rest queues', async () => (await sidecar.upstreamStatus('u')).waiting > 30)
    sidecar.signal('SIGTERM')
    const answers = await Promise.all(calls)
    const served = answers.filter(answer => answer.status === 200)
    const refused = answers.filter(answer => answer.status === 503)
    expect([served.length + refused.length, served.length > 1, refused.length > 1]).toEqual([40, true, true])
    for (const answer of refused) expect(problem(answer).reason).toBe('draining')
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
  })

  test('a second SIGTERM exits at once, whatever is under way', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    const hanging = sidecar.call('/u/x').catch(() => null)
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    await until('readiness is red', async () => (await sidecar.health('/readyz')) === 503)
    sidecar.signal('SIGTERM')
    // The drain period is 25 s, and the call would last for all of it.
    await sidecar.exitWithin(10_000)
    await hanging
  })
})
