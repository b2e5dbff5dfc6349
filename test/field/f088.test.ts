import { expect, it } from 'vitest'
import { snapshotOf, upstream } from '../policy/set.js'

const DEFAULTS = 'x-defaults: &d { connect: 500ms, total: 7s }\n'
const timeouts = (lines: string) => snapshotOf(DEFAULTS + upstream(lines)).upstreams.get('payments')?.policy.timeouts

it('F088: a merge key brings in what it names, and own keys win over it in either order', () => {
  expect(timeouts('timeouts: { <<: *d, total: 9s }')).toMatchObject({ connectMs: 500, totalMs: 9000 })
  expect(timeouts('timeouts: { total: 9s, <<: *d }')).toMatchObject({ connectMs: 500, totalMs: 9000 })
})
