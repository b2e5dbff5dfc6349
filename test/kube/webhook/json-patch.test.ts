import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonPatch } from '../../../src/kube/webhook/json-patch.js'
import { applied } from './support/api-server.js'

describe('a patch', () => {
  it('is empty between equals', () => {
    expect(jsonPatch({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([])
  })

  it('adds to the front of a list by index and leaves the items that were there alone', () => {
    const before = { containers: [{ name: 'app', image: 'a' }] }
    const after = { containers: [{ name: 'new' }, { name: 'app', image: 'a' }] }
    expect(jsonPatch(before, after)).toEqual([{ op: 'add', path: '/containers/0', value: { name: 'new' } }])
  })

  it('adds a list where there was none', () => {
    expect(jsonPatch({ spec: {} }, { spec: { volumes: [{ name: 'v' }] } })).toEqual([
      { op: 'add', path: '/spec/volumes', value: [{ name: 'v' }] },
    ])
  })

  it('reaches into an item that kept its name', () => {
    const before = { c: [{ name: 'app' }, { name: 'log', env: [{ name: 'A' }] }] }
    const after = {
      c: [
        { name: 'app', env: [{ name: 'X' }] },
        { name: 'log', env: [{ name: 'X' }, { name: 'A' }] },
      ],
    }
    expect(jsonPatch(before, after)).toEqual([
      { op: 'add', path: '/c/0/env', value: [{ name: 'X' }] },
      { op: 'add', path: '/c/1/env/0', value: { name: 'X' } },
    ])
  })

  it('writes keys as JSON Pointer has them', () => {
    expect(jsonPatch({ annotations: {} }, { annotations: { 'forbear.dev/injected': '~1' } })).toEqual([
      { op: 'add', path: '/annotations/forbear.dev~1injected', value: '~1' },
    ])
  })

  it('removes what is gone, and replaces what is of another kind', () => {
    expect(jsonPatch({ a: 1, b: [1, 2, 3], c: [] }, { b: [2], c: null })).toEqual([
      { op: 'remove', path: '/a' },
      { op: 'remove', path: '/b/0' },
      { op: 'remove', path: '/b/1' },
      { op: 'replace', path: '/c', value: null },
    ])
  })

  const key = fc.constantFrom('name', 'spec', 'a/b', 'c~d', 'forbear.dev/x', '')
  const { tree } = fc.letrec(tie => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(null, true, false, 0, 1, '', 'app', 'web'),
      fc.array(tie('tree'), { maxLength: 5 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }))

  it('always leads from the one value to the other', () => {
    fc.assert(
      fc.property(tree, tree, (before, after) => {
        const patch = jsonPatch({ root: before }, { root: after })
        expect(applied({ root: before }, patch)).toEqual({ root: after })
      }),
      { numRuns: 2000 },
    )
  })

  it('of insertions into lists holds nothing but these', () => {
    const item = fc.record({ name: fc.stringMatching(/^[a-z]{3}$/), value: fc.nat(3) })
    const items = fc.uniqueArray(item, { selector: one => one.name, maxLength: 8 })
    fc.assert(
      fc.property(items, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (all, isOld) => {
        const old = all.filter((_, index) => isOld[index])
        const patch = jsonPatch(old, all)
        expect(patch.map(({ op }) => op)).toEqual(all.slice(old.length).map(() => 'add'))
        expect(applied(old, patch)).toEqual(all)
      }),
    )
  })
})
