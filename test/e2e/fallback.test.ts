import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ample, quickRetry, temporary, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import { test } from './harness/stage.js'

const retry = quickRetry({ maxAttempts: 2 })

describe('a fallback', () => {
  test('answers in the place of an upstream that is not there, in UTF-8 and with its length', async ({ stage }) => {
    const upstream = await stage.upstream({ closed: true, port: await freePort() })
    const fallback = {
      when: ['retries-exhausted', 'breaker-open'],
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"items":["größe"]}',
    }
    const sidecar = await stage.sidecar([upstreamDoc('shop', upstream.url, { retry, budget: ample, fallback })])
    const answer = await sidecar.call('/shop/items')
    expect([answer.status, answer.text]).toEqual([200, '{"items":["größe"]}'])
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '21',
      'forbear-outcome': 'fallback',
      'forbear-attempts': '2',
    })
    const head = await sidecar.call('/shop/items', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    const write = await sidecar.call('/shop/items', { method: 'POST', body: 'x' })
    expect(write.status).toBe(502)
    expect((await sidecar.admin('/metrics')).text).toMatch(
      /^forbear_fallbacks_total\{.*cause="retries-exhausted".*\} 2$/m,
    )
  })

  test('gives the content of a file as it is now', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503, body: 'busy' })
    const dir = await temporary()
    const file = join(dir, 'items.json')
    await writeFile(file, 'first')
    const fallback = { when: ['retries-exhausted'], file }
    const sidecar = await stage.sidecar([upstreamDoc('shop', upstream.url, { retry, budget: ample, fallback })])
    expect((await sidecar.call('/shop/items')).text).toBe('first')
  })
})
