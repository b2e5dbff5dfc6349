import { describe, expect, it } from 'vitest'
import { OWN_REASONS } from '../../src/core/reasons.js'
import { ownAnswer } from '../../src/pipeline/answers.js'

const field = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1]

describe('own answers', () => {
  it.each([
    ['no-route', 404],
    ['bad-request', 400],
    ['loop', 508],
    ['connect', 502],
    ['reset', 502],
    ['bad-response', 502],
    ['attempt-timeout', 504],
    ['deadline', 504],
    ['breaker-open', 503],
    ['overloaded', 503],
    ['gate-closed', 503],
    ['draining', 503],
    ['no-policy', 503],
    ['headers-too-large', 431],
  ] as const)('%s is a %i', (reason, status) => {
    expect(ownAnswer(reason, {}).status).toBe(status)
  })

  it('are problem documents that carry the reason, the upstream and the attempts', () => {
    for (const reason of OWN_REASONS) {
      const answer = ownAnswer(reason, { upstream: 'pay', attempts: 2, detail: 'why' })
      const body = JSON.parse(answer.body)
      expect(body).toMatchObject({ status: answer.status, reason, upstream: 'pay', attempts: 2, detail: 'why' })
      expect(typeof body.type).toBe('string')
      expect(typeof body.title).toBe('string')
      expect(field(answer.headers, 'content-type')).toBe('application/problem+json')
      expect(field(answer.headers, 'forbear-outcome')).toBe(reason)
      expect(field(answer.headers, 'forbear-attempts')).toBe('2')
      expect(answer.headers).not.toContain('retry-after')
    }
  })

  it('declare their length in bytes whatever the detail holds', () => {
    const answer = ownAnswer('connect', { detail: 'grüße 日本 \u{1f600}' })
    expect(field(answer.headers, 'content-length')).toBe(String(Buffer.byteLength(answer.body)))
    expect(JSON.parse(answer.body).detail).toBe('grüße 日本 \u{1f600}')
  })

  it('round Retry-After up to whole seconds, at least one', () => {
    expect(field(ownAnswer('breaker-open', { retryAfterMs: 1001 }).headers, 'retry-after')).toBe('2')
    expect(field(ownAnswer('breaker-open', { retryAfterMs: 0 }).headers, 'retry-after')).toBe('1')
    expect(ownAnswer('breaker-open', { retryAfterMs: Number.POSITIVE_INFINITY }).headers).not.toContain('retry-after')
  })
})
