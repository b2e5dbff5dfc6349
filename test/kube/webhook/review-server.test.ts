/** The HTTPS server of reviews with judges of the test. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { firstSet } from '../../../src/kube/certs/bundle.js'
import { issueCertificates, serviceNames } from '../../../src/kube/certs/issue.js'
import { allow } from '../../../src/kube/webhook/admission-review.js'
import { type Review, ReviewServer, type ReviewTold } from '../../../src/kube/webhook/review-server.js'
import { reviewTimeMs } from '../../../src/kube/webhook/review-time.js'
import { admit, NAMESPACE, SERVICE, type WebhookConfig } from './support/api-server.js'
import { pod } from './support/pods.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Stage {
  readonly config: WebhookConfig
  readonly told: ReviewTold[]
  readonly server: ReviewServer
}

async function stage(review: Review): Promise<Stage> {
  const names = serviceNames(SERVICE, NAMESPACE)
  const set = firstSet(await issueCertificates({ names, days: 1, nowMs: Date.now() }))
  const told: ReviewTold[] = []
  const server = new ReviewServer({
    reviews: new Map([['/mutate', review]]),
    nowMs: () => performance.now(),
    onReviewed: one => told.push(one),
    onRefused: () => undefined,
  })
  const listener = server.create()
  // The certificate comes after the server, as where a Secret is made later.
  server.use({ cert: set['tls.crt'], key: set['tls.key'] })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  closing.push(() => server.close())
  const { port } = listener.address() as AddressInfo
  return { config: { port, caBundle: set['ca.crt'], path: '/mutate' }, told, server }
}

const object = pod()

describe('a judge', () => {
  it('that throws lets the object in with a warning, and the reason is told', async () => {
    const { config, told } = await stage(() => {
      throw new Error('out of wits')
    })
    const { allowed, patch, warnings } = await admit(config, { object })
    expect([allowed, patch, warnings]).toEqual([true, [], [expect.stringContaining('the webhook failed')]])
    expect(told).toMatchObject([{ webhook: 'mutate', reason: 'failed', error: 'out of wits' }])
  })

  it('that rejects does, too', async () => {
    const { config } = await stage(() => Promise.reject(new Error('later')))
    expect((await admit(config, { object })).allowed).toBe(true)
  })

  it('that is slower than the API server waits is ended before that, and the object gets in with a warning', async () => {
    const { config, told } = await stage((_, time) =>
      once(time(), 'abort').then(() => Promise.reject(new Error('too slow'))),
    )
    const { allowed, warnings } = await admit({ ...config, timeoutSeconds: 1 }, { object })
    expect([allowed, warnings]).toEqual([true, [expect.stringContaining('no time left')]])
    expect(told[0]?.reason).toBe('timeout')
  })

  it('that has too much to say is shortened to what a header carries', async () => {
    const many = Array.from({ length: 200 }, (_, n) => `${n} é\n\u0007\ud800 ${'ü'.repeat(600)}`)
    const { config } = await stage(() => ({ decision: allow(...many), reason: 'valid' }))
    const { warnings } = await admit(config, { object })
    expect(warnings.at(-1)).toMatch(/^and 1\d\d more$/)
    expect(Buffer.byteLength(warnings.join(''))).toBeLessThan(4096)
    for (const warning of warnings) {
      expect(Buffer.byteLength(warning)).toBeLessThanOrEqual(1000)
      expect(warning).not.toMatch(/\p{Cc}|\p{Cs}/u)
    }
  })
})

it.each([
  [null, 9500],
  ['5s', 4500],
  ['30s', 29_500],
  ['1m0s', 29_500],
  ['1.5s', 1000],
  ['500ms', 250],
  ['soon', 9500],
  ['-1s', 9500],
  ['', 9500],
])('of ?timeout=%s a judge has %i ms', (timeout, ms) => {
  expect(reviewTimeMs(timeout)).toBe(ms)
})
