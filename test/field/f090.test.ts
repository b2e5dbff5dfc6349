import { expect, it } from 'vitest'
import { messagesOf, upstream } from '../policy/set.js'

it('F090: a duplicate key is refused with its name and both lines', () => {
  expect(messagesOf(upstream(`retry: { maxAttempts: 2 }\n${'# forty\n'.repeat(40)}retry: { maxAttempts: 3 }`))).toEqual(
    ['a.yaml:47:3  spec.retry  the key retry stands here twice, at line 6 and at line 47: keep one [FB011]'],
  )
})
