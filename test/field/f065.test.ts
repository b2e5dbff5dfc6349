import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'
import { messagesOf, upstream } from '../policy/set.js'

checkEveryEnding()

const AFTER = { kind: 'fixed', delayMs: 50 } as const

/** How often one call reaches an upstream that is slower than the hedge. */
async function hits(method: string, headers: Record<string, string> = {}, keyedWrites = false): Promise<number> {
  const stage = new Stage({ hedge: { mode: 'enabled', after: AFTER, keyedWrites } })
  stage.upstream.plays(reply(200, { afterMs: 400 }))
  stage.call(method, '/', { headers, ...(method === 'GET' ? {} : { bodyBytes: 100 }) })
  await stage.finish()
  return stage.upstream.sent.length
}

describe('F065 the hedging layer duplicates POSTs, for it does not look at the method (hedgedhttp#61)', () => {
  it.each(['POST', 'PATCH', 'PUT', 'DELETE', 'PURGE'])('a slow %s reaches the upstream once', async method => {
    expect(await hits(method)).toBe(1)
  })

  it('also with a key, which makes it fit for a retry, but not for two at once', async () => {
    expect(await hits('POST', { 'Idempotency-Key': 'k' })).toBe(1)
  })

  it('twice only where the policy says that the upstream can bear it', async () => {
    expect(await hits('POST', { 'Idempotency-Key': 'k' }, true)).toBe(2)
    expect(await hits('POST', {}, true)).toBe(1)
  })

  it('a slow GET is hedged', async () => {
    expect(await hits('GET')).toBe(2)
  })

  it('a policy that asks for more is told so', () => {
    const lines = 'routes: [{ name: pay, match: { methods: [POST] }, hedge: { after: 50ms } }]'
    expect(messagesOf(upstream(lines))).toEqual([expect.stringContaining('hedge does nothing for POST')])
  })
})
