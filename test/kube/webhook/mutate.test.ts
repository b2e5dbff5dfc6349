/** `/mutate` of the built command, asked as an API server asks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inject } from '../../../src/kube/inject/inject.js'
import type { Fields } from '../../../src/kube/inject/types.js'
import { admit, type Json, type WebhookConfig } from './support/api-server.js'
import { kubectls, patchedByKubectl } from './support/kubectl.js'
import { DEFAULTED, PODS, pod } from './support/pods.js'
import { IMAGE, WebhookProcess } from './support/webhook-process.js'

let webhook: WebhookProcess
let mutate: WebhookConfig

beforeAll(async () => {
  webhook = await WebhookProcess.start()
  mutate = webhook.at('/mutate')
})
afterAll(() => webhook.stop())

/** As JSON has it. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function injected(object: Json): unknown {
  const { spec, metadata } = plain(object) as { spec: Fields; metadata: Fields }
  const { podSpec, meta } = inject(spec, metadata, { image: IMAGE, native: 'auto', kind: 'Pod', by: 'webhook' })
  return plain({ ...object, metadata: meta, spec: podSpec })
}

describe('a pod', () => {
  it.each(Object.entries(PODS))('%s becomes what `forbear inject` makes of it', async (_what, object) => {
    const admitted = await admit(mutate, { object: plain(object) })
    expect(admitted.allowed).toBe(true)
    expect(admitted.object).toEqual(injected(object))
    expect(admitted.object).not.toEqual(plain(object))
  })

  it.each(Object.entries(PODS))('%s that comes again gets no patch', async (_what, object) => {
    const once = await admit(mutate, { object: plain(object) })
    const twice = await admit(mutate, { object: once.object })
    expect(twice.patch).toEqual([])
  })

  it('that the command has injected, by flags of its own, is left as it is', async () => {
    const { spec, metadata } = plain(pod()) as { spec: Fields; metadata: Fields }
    const { podSpec, meta } = inject(spec, metadata, { image: 'registry.example.com/other:2', upstreams: 'a=9101' })
    const admitted = await admit(mutate, { object: plain({ ...pod(), metadata: meta, spec: podSpec }) })
    expect([admitted.allowed, admitted.patch]).toEqual([true, []])
  })

  it('gets a patch that adds and touches nothing else', async () => {
    const { patch } = await admit(mutate, { object: DEFAULTED })
    expect(new Set(patch.map(({ op }) => op))).toEqual(new Set(['add']))
    expect(patch.map(({ path }) => path)).toEqual([
      '/metadata/annotations/forbear.dev~1injected',
      '/spec/containers/0/env/0',
      '/spec/volumes/0',
      '/spec/initContainers',
    ])
  })

  it('that another webhook has added a container to gets only what that one lacks', async () => {
    const { object } = await admit(mutate, { object: pod() })
    const other = structuredClone(object) as { spec: { containers: Json[] } }
    other.spec.containers.push({ name: 'mesh', image: 'registry.example.com/mesh:1' })
    const again = await admit(mutate, { object: other })
    expect(again.patch.map(({ op, path }) => `${op} ${path}`)).toEqual([
      'replace /metadata/annotations/forbear.dev~1injected',
      'add /spec/containers/1/env',
    ])
  })

  it('whose label says "false" is let through as it is, without a word', async () => {
    const admitted = await admit(mutate, { object: pod({}, { labels: { 'forbear.dev/inject': 'false' } }) })
    expect(admitted).toMatchObject({ allowed: true, patch: [], warnings: [] })
  })

  it('without a label of its own is injected: its namespace has one, or it would not have been sent', async () => {
    const { patch } = await admit(mutate, { object: pod({}, { labels: undefined }) })
    expect(patch).not.toEqual([])
  })

  it('that cannot be injected is let through with the reason and what to do', async () => {
    const { patch, allowed, warnings } = await admit(mutate, { object: pod({ hostNetwork: true }) })
    expect([allowed, patch]).toEqual([true, []])
    expect(warnings).toEqual([expect.stringMatching(/^forbear: not injected: .*hostNetwork.*; /)])
  })

  it.each([
    ['containers', pod({ containers: Array.from({ length: 20_000 }, (_, n) => ({ name: `c${n}` })) })],
    [
      'annotations',
      pod(
        {},
        { annotations: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`forbear.dev/a${n}`, 'x'])) },
      ),
    ],
    [
      'upstreams',
      pod({}, { annotations: { 'forbear.dev/upstreams': Array.from({ length: 50_000 }, (_, n) => `u${n}`).join() } }),
    ],
  ])('with %s by the thousand is let through with a warning: others are not to wait for it', async (_what, object) => {
    const admitted = await admit(mutate, { object })
    expect(admitted).toMatchObject({ allowed: true, patch: [] })
    expect(admitted.warnings).toEqual([expect.stringContaining('not injected: the pod has more than 200 containers')])
  })

  it('of a dry run gets the same answer', async () => {
    const [real, dry] = await Promise.all([false, true].map(dryRun => admit(mutate, { object: pod(), dryRun })))
    expect(dry?.object).toEqual(real?.object)
  })
})

describe('what is no creation of a pod', () => {
  it.each([
    ['an update', { operation: 'UPDATE', object: pod(), oldObject: pod() }],
    ['a deletion', { operation: 'DELETE', object: null, oldObject: pod() }],
    ['an exec', { operation: 'CONNECT', subResource: 'exec', object: { kind: 'PodExecOptions' } }],
    ['another kind', { resource: 'services', object: { kind: 'Service', metadata: {} } }],
  ] as const)('%s is let through silently', async (_what, review) => {
    expect(await admit(mutate, review)).toMatchObject({ allowed: true, patch: [], warnings: [] })
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['text', 'pod'],
    ['without a spec', { kind: 'Pod', metadata: { name: 'x' } }],
    ['with a spec that is text', { kind: 'Pod', metadata: {}, spec: 'x' }],
  ])('a pod that is %s is let through with a warning', async (_what, object) => {
    const { allowed, patch, warnings } = await admit(mutate, { object })
    expect([allowed, patch]).toEqual([true, []])
    expect(warnings).toHaveLength(1)
  })
})

describe.skipIf(kubectls().length === 0)('with kubectl, whose JSON Patch is that of API servers', () => {
  it.each(Object.entries(PODS))('a pod %s is patched alike', async (_what, object) => {
    const { patch, object: ours } = await admit(mutate, { object: plain(object) })
    expect(await patchedByKubectl(plain(object), patch)).toEqual(plain(ours))
  })
})
