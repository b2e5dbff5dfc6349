import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { injectManifest, uninjectManifest } from '../../../src/kube/manifest/inject-manifest.js'
import { jsonStream, layout, object, yamlStream } from './manifests.js'

const options = fc.record(
  {
    image: fc.constant('forbear:1'),
    upstreams: fc.constantFrom('', 'payments=9101,ledger'),
    native: fc.constantFrom('auto', 'true', 'false'),
    httpProxy: fc.boolean(),
    position: fc.constantFrom('first', 'last'),
    quitEndpoint: fc.constant(true),
  },
  { requiredKeys: ['image', 'quitEndpoint'] },
)

const stream = fc.oneof(
  fc
    .tuple(fc.array(object, { minLength: 1, maxLength: 3 }), layout)
    .map(([objects, layout]) => yamlStream(objects, layout)),
  fc
    .tuple(fc.array(object, { minLength: 1, maxLength: 3 }), fc.constantFrom('', 2, 4, '\t'), layout)
    .map(([objects, step, layout]) => jsonStream(objects, step, layout)),
)

const RUNS = 1500

test('for manifests of every layout inject is idempotent and uninject its inverse, byte by byte', () => {
  fc.assert(
    fc.property(stream, options, (text, options) => {
      fc.pre(isSound(text))
      const injected = injectManifest(text, 'a.yaml', options)
      expect(injected.problems).toEqual([])
      expect(injectManifest(injected.text, 'a.yaml', options).text).toBe(injected.text)
      expect(uninjectManifest(injected.text, 'a.yaml').text).toBe(text)
    }),
    { numRuns: RUNS, endOnFailure: process.env.SHRINK === undefined, interruptAfterTimeLimit: 15_000 },
  )
})

test('a second injection with other options is one with those alone', () => {
  fc.assert(
    fc.property(stream, options, options, (text, first, second) => {
      fc.pre(isSound(text))
      const injected = injectManifest(text, 'a.yaml', first).text
      expect(injectManifest(injected, 'a.yaml', second).text).toBe(injectManifest(text, 'a.yaml', second).text)
    }),
    { numRuns: RUNS, endOnFailure: process.env.SHRINK === undefined, interruptAfterTimeLimit: 15_000 },
  )
})

/** Comments at random may have made something else of it. */
function isSound(text: string): boolean {
  if (text.replace('\ufeff', '').trimStart().startsWith('{')) return true
  return parseAllDocuments(text, { version: '1.1' }).every(document => document.errors.length === 0)
}
