import { describe, expect, it } from 'vitest'
import { type EffectiveField, explainPolicy } from '../../src/policy/provenance.js'
import { policy, sourceOf, upstream } from './set.js'

const source = sourceOf({
  'd.yaml': policy('timeouts: { total: 10s }\nretry: { onHeaders: { X-Retry: "*" } }', 'default'),
  'p.yaml': policy('retry: { retryOn: [503], backoff: { base: 1s } }'),
  'u.yaml': upstream(`policyRef: careful
retry: { backoff: { cap: 5s } }
routes:
  - name: place-order
    match: {}
    retry:
      backoff: { cap: 2s }
    longPoll: true`),
})

const find = (fields: EffectiveField[] | null, path: string) => fields?.find(field => field.path === path)
const file = (name: string, line: number, col: number, from: string) => ({ kind: 'file', file: name, line, col, from })

describe('what is in force for an upstream', () => {
  const fields = explainPolicy(source, 'payments', null)

  it.each([
    ['timeouts.connect', '3s', { kind: 'built-in' }],
    ['timeouts.total', '10s', file('d.yaml', 5, 22, 'Policy default')],
    ['retry.backoff.base', '1s', file('p.yaml', 5, 45, 'Policy careful')],
    ['retry.retryOn', [503], file('p.yaml', 5, 21, 'Policy careful')],
    ['retry.backoff.cap', '5s', file('u.yaml', 7, 28, 'Upstream payments')],
    ['retry.onHeaders.x-retry', '*', file('d.yaml', 6, 34, 'Policy default')],
  ])('%s comes from where it was written last', (path, value, origin) => {
    expect(find(fields, path)).toEqual({ path, value, origin })
  })

  it('has the clock of an attempt from that of the request', () => {
    expect(find(fields, 'timeouts.attempt')).toEqual({
      path: 'timeouts.attempt',
      value: '10s',
      origin: file('d.yaml', 5, 22, 'Policy default'),
    })
  })

  it('names each field once, and long polls for routes only', () => {
    const paths = (fields ?? []).map(({ path }) => path)
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toContain('limits.maxWaitingBytes')
    expect(paths).not.toContain('longPoll')
  })
})

describe('what is in force for a route', () => {
  const fields = explainPolicy(source, 'payments', 'place-order')

  it('comes from the route where it wrote it, else from below', () => {
    expect(find(fields, 'retry.backoff.cap')?.origin).toEqual(file('u.yaml', 12, 25, 'route place-order'))
    expect(find(fields, 'longPoll')).toMatchObject({ value: true, origin: { from: 'route place-order' } })
    expect(find(fields, 'retry.backoff.base')?.origin).toMatchObject({ from: 'Policy careful' })
  })
})

it('nothing is in force for an upstream or a route that is not there', () => {
  expect(explainPolicy(source, 'orders', null)).toBeNull()
  expect(explainPolicy(source, 'payments', 'none')).toBeNull()
})
