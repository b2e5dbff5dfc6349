import { expect, it } from 'vitest'
import { snapshotOf, upstream } from '../policy/set.js'

const DEFAULTS = 'x-defaults: &d { connect: 500ms, total: 7s }\n'
const timeouts = (lines: string) => snapshotOf(DEFAULTS + upstream(lines)).upstreams.get('payments')?.policy.timeouts

it('F088: a merge key brings in what it names, and own keys win over it in either order', () => {
  expect(timeouts('timeouts: { <<: *d, total: 9s }')).toMatchObject({ connectMs: 500, totalMs: 9000 })
  expect(timeouts('timeouts: { total: 9s, <<: *d }')).toMatchObject({ connectMs: 500, totalMs: 9000 })
})

it('F088: an anchor within a merge can be used by what follows it', () => {
  expect(timeouts('timeouts: { <<: &e { idle: 4s } }\nroutes: [{ name: a, match: {}, timeouts: *e }]')?.idleMs).toBe(
    4000,
  )
  expect(timeouts('retry: { <<: { backoff: &b { base: 1s } }, throttled: *b }')).toBeDefined()
})
