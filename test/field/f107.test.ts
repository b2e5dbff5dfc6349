import { expect, it } from 'vitest'
import { load, upstream } from '../policy/set.js'

it('F107: four values of the wrong type are four errors, and none is coerced', () => {
  const { messages } = load(
    upstream('timeouts: { total: true, idle: ~ }\nretry: { maxAttempts: "3" }').replace(/https:.*/, '5'),
  )
  expect(messages.map(({ path, code }) => `${path} ${code}`)).toEqual([
    'spec.target FB034',
    'spec.timeouts.total FB034',
    'spec.timeouts.idle FB033',
    'spec.retry.maxAttempts FB034',
  ])
})
