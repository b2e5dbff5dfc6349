import { expect, it } from 'vitest'
import { messagesOf, together, upstream } from '../policy/set.js'

it('F104: an unknown key in one of thirty upstreams is named with file, line, path and the nearest right key', () => {
  const set = Array.from({ length: 30 }, (_, i) => upstream(i === 17 ? 'timeout: { total: 5s }' : '', `u-${i}`))
  expect(messagesOf({ 'many.yaml': together(...set) })).toEqual([
    'many.yaml:125:3  spec.timeout  unknown key "timeout"; did you mean timeouts? [FB030]',
  ])
})
