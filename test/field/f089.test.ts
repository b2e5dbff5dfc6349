import { expect, it } from 'vitest'
import { messagesOf, snapshotOf, upstream } from '../policy/set.js'

const DEFAULTS = 'x-a: &a { connect: 1s }\nx-b: &b { connect: 2s, total: 8s }\n'
const timeouts = (lines: string) => snapshotOf(DEFAULTS + upstream(lines)).upstreams.get('payments')?.policy.timeouts

it('F089: of several merges the earlier wins, as a list and as two keys', () => {
  expect(timeouts('timeouts: { <<: [*a, *b] }')).toMatchObject({ connectMs: 1000, totalMs: 8000 })
  expect(timeouts('timeouts: { <<: [*b, *a] }')).toMatchObject({ connectMs: 2000, totalMs: 8000 })
  expect(timeouts('timeouts:\n  <<: *a\n  <<: *b')).toMatchObject({ connectMs: 1000, totalMs: 8000 })
})

it('F089: a merge of something else than a mapping is refused', () => {
  expect(messagesOf(upstream('timeouts: { <<: 5 }'))).toEqual([
    'a.yaml:6:19  spec.timeouts["<<"]  << takes a mapping or a list of mappings, such as <<: *name [FB017]',
  ])
})
