import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inject } from '../../../src/kube/inject/inject.js'
import { injectManifest, uninjectManifest } from '../../../src/kube/manifest/inject-manifest.js'
import { jsonStream, layout, object, yamlStream } from './manifests.js'
import { type Loose, objectsIn } from './pods.js'

/** More by `FORBEAR_INJECT_RUNS=5000`. */
const RUNS = Number(process.env.FORBEAR_INJECT_RUNS ?? 120)

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

const objects = fc.array(object, { minLength: 1, maxLength: 3 })
const stream = fc.oneof(
  fc.tuple(objects, layout).map(([objects, layout]) => yamlStream(objects, layout)),
  fc
    .tuple(objects, fc.constantFrom('', 2, 4, '\t'), layout)
    .map(([objects, step, layout]) => jsonStream(objects, step, layout)),
)

function holds(property: fc.IProperty<Loose>): void {
  // Shrinking a whole manifest may take for ever.
  fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: Math.max(15_000, RUNS * 100) })
}

test('in every layout all bytes of the user stay, in their order, and uninject gives back exactly those', () => {
  holds(
    fc.property(stream, options, (text, options) => {
      const injected = injectManifest(text, 'a.yaml', options)
      expect(injected.problems).toEqual([])
      expect(isWithin(spelledNulls(text), injected.text)).toBe(true)
      expect(uninjectManifest(injected.text, 'a.yaml').text).toBe(text)
    }),
  )
})

test('in every layout injecting again changes nothing, and with other options gives what those give alone', () => {
  holds(
    fc.property(stream, options, options, (text, first, second) => {
      const injected = injectManifest(text, 'a.yaml', first).text
      expect(injectManifest(injected, 'a.yaml', first).text).toBe(injected)
      expect(injectManifest(injected, 'a.yaml', second).text).toBe(injectManifest(text, 'a.yaml', second).text)
    }),
  )
})

test('in every layout the text says what the pure function makes of the values', () => {
  holds(
    fc.property(fc.tuple(objects, layout), options, ([objects, layout], options) => {
      const text = yamlStream(objects, { ...layout, comments: false })
      const before = objectsIn(text).flatMap(podsOf)
      const after = objectsIn(injectManifest(text, 'a.yaml', options).text).flatMap(podsOf)
      expect(after.length).toBe(before.length)
      for (const [index, { kind, pod }] of before.entries()) {
        const { podSpec, meta } = inject(pod.spec, pod.metadata, { ...options, kind })
        expect(after[index]?.pod.spec).toEqual(podSpec)
        expect(unsigned(after[index]?.pod.metadata)).toEqual(unsigned(meta))
      }
    }),
  )
})

/** What was null is not in the way of what takes its place. */
function spelledNulls(text: string): string {
  return text.replaceAll(/(metadata|annotations|initContainers|volumes|env)("?):( *)(null|~)/g, '$1$2:$3')
}

function isWithin(part: string, whole: string): boolean {
  let at = 0
  for (const character of part) {
    at = whole.indexOf(character, at) + 1
    if (at === 0) return false
  }
  return true
}

function podsOf(object: Loose): { kind: string; pod: Loose }[] {
  if (object.kind === 'List') return object.items.flatMap(podsOf)
  if (object.kind === 'Pod') return [{ kind: 'Pod', pod: object }]
  const pod = object.spec?.jobTemplate?.spec.template ?? object.spec?.template
  return pod === undefined ? [] : [{ kind: object.kind, pod }]
}

/** The record tells how nulls were spelled, which the values do not. */
function unsigned(metadata: Loose): unknown {
  const { 'forbear.dev/injected': record, ...annotations } = metadata.annotations
  return { ...metadata, annotations, record: record.replaceAll(/"null":"[^"]*"/g, '"null":""') }
}
