/** `/validate-policy` of the built command, asked as an API server asks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { admit, type Json, post, reviewOf, type WebhookConfig } from './support/api-server.js'
import { WebhookProcess } from './support/webhook-process.js'

let webhook: WebhookProcess
let validate: WebhookConfig

beforeAll(async () => {
  webhook = await WebhookProcess.start()
  validate = webhook.at('/validate-policy')
})
afterAll(() => webhook.stop())

const upstream = (name: string, spec = '') => `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: ${name} }
spec:
  target: http://${name}.example.com
${spec}`
const GOOD = { 'payments.yaml': upstream('payments') }
const BAD = { 'payments.yaml': upstream('payments', '  retry:\n    maxAttempts: zero\n') }

function configMap(data: Json, more: Json = {}, annotations: Json = {}): Json {
  const metadata = { name: 'policies', namespace: 'shop', labels: { 'forbear.dev/policy': 'true' }, annotations }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data, ...more }
}

const create = (object: unknown) => admit(validate, { resource: 'configmaps', object })
const edit = (oldObject: unknown, object: unknown) =>
  admit(validate, { resource: 'configmaps', operation: 'UPDATE', object, oldObject })

describe('a ConfigMap of policies', () => {
  it('that a sidecar can use gets in without a word', async () => {
    expect(await create(configMap(GOOD))).toMatchObject({ allowed: true, warnings: [], patch: [] })
  })

  it('with a mistake is refused with file, line, column, path and code', async () => {
    const { allowed, status } = await edit(configMap(GOOD), configMap(BAD))
    expect(allowed).toBe(false)
    expect(status).toMatchObject({ code: 422, reason: 'Invalid', details: { kind: 'ConfigMap', name: 'policies' } })
    expect(status?.message.split('\n')).toEqual([
      'the policies cannot be used',
      expect.stringMatching(/^payments\.yaml:7:18 {2}spec\.retry\.maxAttempts {2}.*zero.*\[FB034\]$/),
    ])
    expect(status?.details.causes).toEqual([
      expect.objectContaining({
        field: 'payments.yaml:7:18',
        message: expect.stringMatching(/^spec\.retry\.maxAttempts {2}.*\[FB034\]$/),
      }),
    ])
  })

  it.each([
    ['that is not YAML', { 'a.yaml': 'kind: [' }, 'FB010'],
    ['that is empty', { 'a.yaml': '' }, 'FB002'],
    ['without a file of policies', { 'readme.txt': 'x' }, 'FB002'],
    ['without data', undefined, 'FB002'],
    ['with two upstreams of one name in two files', { 'a.yaml': upstream('x'), 'b.yml': upstream('x') }, 'FB040'],
    ['with a policyRef to nothing', { 'a.yaml': upstream('x', '  policyRef: careful\n') }, 'FB044'],
    ['with a NUL', { 'a.yaml': `${upstream('x')}\0` }, 'FB003'],
  ])('%s is refused as `forbear check` would', async (_what, data, code) => {
    const { allowed, status } = await create(configMap(data as Json))
    expect(allowed).toBe(false)
    expect(status?.message).toContain(`[${code}]`)
  })

  it('is judged as one directory: a Policy of another file is known', async () => {
    const careful = `apiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: careful }\nspec: { timeouts: { total: 9s } }\n`
    const data = { 'a.yaml': upstream('x', '  policyRef: careful\n'), 'b.yaml': careful, 'notes.txt': '{{' }
    expect(await create(configMap(data))).toMatchObject({ allowed: true })
  })

  it('with a hundred mistakes is refused in a message that an editor can show', async () => {
    const many = Array.from({ length: 100 }, (_, n) =>
      upstream(`u${n}`, `  retry: { maxAttempts: ${'z'.repeat(500)} }\n`),
    )
    const { status } = await create(configMap({ 'many.yaml': many.join('---\n') }))
    expect(status?.details.causes).toHaveLength(20)
    expect(status?.message).toMatch(/and \d+ more mistakes: mend those above first$/)
    expect(Buffer.byteLength(status?.message ?? '')).toBeLessThan(16_384)
  })

  it('gets the warnings of the checker as warnings', async () => {
    const { allowed, warnings } = await create(configMap({ 'a.yaml': upstream('x', '  retry: { retryOn: [404] }\n') }))
    expect(allowed).toBe(true)
    expect(warnings).toEqual([expect.stringMatching(/^a\.yaml:6:\d+ .*\[FB051\]$/)])
  })

  it.each([
    ['immutable', configMap(GOOD, { immutable: true }), /^immutable: true: .*never be edited/],
    ['binaryData', configMap(GOOD, { binaryData: { 'b.yaml': 'eA==' } }), /^b\.yaml is in binaryData/],
    ['a .json file', configMap({ ...GOOD, 'b.json': '{}' }), /^b\.json is not read: name it b\.yaml/],
    ['more than kubectl apply can keep', configMap({ ...GOOD, x: 'x'.repeat(210_000) }), /205 KiB: kubectl apply/],
    ['next to no room left', configMap({ ...GOOD, x: 'x'.repeat(1_000_000) }), /977 KiB of the 1024 KiB .*split it/],
    [
      'an upstream that nobody declares',
      configMap(GOOD, {}, { 'forbear.dev/upstreams': 'payments=9101,ledger' }),
      /declares the upstream ledger/,
    ],
  ])('with %s is let in with a warning', async (_what, object, warning) => {
    const admitted = await create(object)
    expect(admitted.allowed).toBe(true)
    expect(admitted.warnings).toEqual([expect.stringMatching(warning)])
  })

  it('is never kept from being deleted', async () => {
    const review = { resource: 'configmaps', operation: 'DELETE', object: null, oldObject: configMap(BAD) } as const
    expect(await admit(validate, review)).toMatchObject({ allowed: true, warnings: [] })
  })

  it('that was bad before may have its metadata changed, and says what is wrong', async () => {
    const { allowed, warnings } = await edit(configMap(BAD), configMap(BAD, {}, { owner: 'ada' }))
    expect(allowed).toBe(true)
    expect(warnings).toEqual([expect.stringContaining('[FB034]')])
  })

  it('may be taken out of the checks by its label, which is told', async () => {
    const bare = { ...configMap(BAD), metadata: { name: 'policies', namespace: 'shop' } }
    const { allowed, warnings } = await edit(configMap(GOOD), bare)
    expect(allowed).toBe(true)
    expect(warnings).toEqual([expect.stringContaining('no longer checked')])
    expect(await edit(bare, configMap(BAD))).toMatchObject({ allowed: false })
  })
})

describe('judging', () => {
  it('goes on beside other reviews: a slow set keeps no pod waiting', async () => {
    const large = Array.from({ length: 1500 }, (_, n) =>
      upstream(`u${n}`, '  routes: [{ name: a, match: { path: /a } }]\n'),
    )
    const slow = create(configMap({ 'large.yaml': large.join('---\n') })).then(() => 'slow')
    const review = JSON.stringify(reviewOf({ resource: 'configmaps', operation: 'DELETE', object: null }))
    const quick = post(validate, review).then(() => 'quick')
    expect(await Promise.race([slow, quick])).toBe('quick')
    expect(await slow).toBe('slow')
  })

  it('that takes longer than an API server waits lets the edit in with a warning, and the next is judged', async () => {
    const huge = Array.from({ length: 6000 }, (_, n) => upstream(`u${n}`)).join('---\n')
    const hurried = { ...validate, timeoutSeconds: 0.05 }
    const late = await admit(hurried, { resource: 'configmaps', object: configMap({ 'a.yaml': huge }) })
    expect(late).toMatchObject({ allowed: true, warnings: [expect.stringContaining('no time left')] })
    expect(await create(configMap(BAD))).toMatchObject({ allowed: false })
  })
})

it('of the policies nothing but codes is in the log', async () => {
  const secret = 'hunter2-token'
  await create(configMap({ 'a.yaml': upstream('x', `  tls: { caFile: ${secret}, serverName: [${secret}] }\n`) }))
  await create(configMap({ 'a.yaml': `password: ${secret}` }))
  expect(webhook.output).toContain('"codes":["FB')
  expect(webhook.output).not.toContain(secret)
})
