import { expect, it } from 'vitest'
import { messagesOf, upstream } from '../policy/set.js'

it('F102: a key with nothing after it is explained, wherever it stands', () => {
  expect(messagesOf(upstream('retry:\nbudget: { ratio: }\nroutes:\n  -'))).toEqual([
    'a.yaml:6:3  spec.retry  retry is empty: remove the key or give it a value [FB033]',
    'a.yaml:7:13  spec.budget.ratio  ratio is empty: remove the key or give it a value [FB033]',
    expect.stringContaining('spec.routes[0]  this item is empty: remove it or give it a value [FB033]'),
  ])
  expect(messagesOf('apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: a }\nspec:\n')).toEqual([
    'a.yaml:4:1  spec  spec is empty: give it a value [FB033]',
  ])
})
