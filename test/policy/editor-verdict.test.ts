import { readdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allSamples, ROOT, read } from '../docs/samples.js'
import { LanguageServer } from './support/language-server.js'

const COMMENT = '# yaml-language-server: $schema=../schemas/forbear.schema.json'
const FORMAT = 'apiVersion: forbear.dev/v1alpha1'

let server: LanguageServer
beforeAll(async () => {
  server = await LanguageServer.start()
})
afterAll(() => server.stop())

const policies = [
  ...readdirSync(`${ROOT}policies`)
    .filter(name => /\.ya?ml$/.test(name))
    .map(name => ({ at: `policies/${name}`, text: read(`policies/${name}`) })),
  ...allSamples().filter(({ language, mode, text }) => language === 'yaml' && mode === '' && text.includes(FORMAT)),
]

describe('every policy that is shipped or shown', () => {
  it('is found', () => {
    expect(policies.length).toBeGreaterThan(4)
  })

  it.each(policies)('names the schema in each document, and an editor finds nothing wrong: $at', async ({ text }) => {
    for (const document of text.split(/^---\n/m)) expect(document).toMatch(`${COMMENT}\n`)
    expect(await server.complaints(text)).toEqual([])
    // That the schema was found at all.
    const wrong = text.replaceAll(/^spec:/gm, 'spce:')
    expect((await server.complaints(wrong)).length).toBeGreaterThan(0)
  })
})

/** The lines begin at line 6, under the spec of an Upstream. */
const upstream = (...lines: readonly string[]): string =>
  [COMMENT, FORMAT, 'kind: Upstream', 'metadata: { name: shop }', 'spec:', ...lines, ''].join('\n')
const TARGET = '  target: http://shop.internal'

describe('an editor sees one complaint, at its line, of', () => {
  it.each([
    ['an unknown key', upstream(TARGET, '  retries: {}'), 7, 'retries'],
    [
      'an unknown key of a route',
      upstream(TARGET, '  routes:', '    - name: a', '      match: { method: [GET] }'),
      9,
      'method',
    ],
    ['a word that is none', upstream(TARGET, '  breaker:', '    mode: off'), 8, '"enforce", "observe", "disabled"'],
    ['a quoted number', upstream(TARGET, '  retry: { maxAttempts: "3" }'), 7, '"integer"'],
    ['a number out of range', upstream(TARGET, '  retry:', '    maxAttempts: 0'), 8, 'minimum of 1'],
    ['a duration without a unit', upstream(TARGET, '  timeouts:', '    total: 10'), 8, '"string"'],
    [
      'a duration with a fraction',
      upstream(TARGET, '  timeouts: { total: 1.5s }'),
      7,
      'duration 1ms to 24h, or `none`',
    ],
    ['none where a duration must be', upstream(TARGET, '  budget: { window: none }'), 7, 'duration 1s to 10m'],
    ['a size with another unit', upstream(TARGET, '  retry:', '    maxBody: 64KB'), 8, 'size 0B to 64MiB'],
    ['a status that is none', upstream(TARGET, '  retry:', '    retryOn: [connect, 200]'), 8, 'minimum of 400'],
    ['a jitter that is none', upstream(TARGET, '  retry: { backoff: { jitter: fll } }'), 7, 'none, full, equal'],
    ['a target that is no URL', upstream('  target: shop.internal'), 6, 'http:// or https://'],
    ['a missing target', upstream('  listen: 127.0.0.1:15101'), 5, 'target'],
    ['a missing name', `${COMMENT}\n${FORMAT}\nkind: Policy\nmetadata: {}\nspec: {}\n`, 4, 'name'],
    ['a kind that is none', upstream(TARGET).replace('Upstream', 'Upsteam'), 3, '"Upstream", "Policy"'],
    ['no kind', upstream(TARGET).replace('kind: Upstream\n', ''), 2, 'kind'],
    ['another version', upstream(TARGET).replace('v1alpha1', 'v2'), 2, 'forbear.dev/v1alpha1'],
    ['an Upstream’s key in a Policy', upstream(TARGET).replace('Upstream', 'Policy'), 6, 'target'],
  ] as const)('%s', async (_, text, line, words) => {
    const complaints = await server.complaints(text)
    expect(complaints).toEqual([{ line, message: expect.stringContaining(words) }])
  })

  it('the second document of a file, at its line', async () => {
    const text = `${upstream(TARGET)}---\n${upstream(TARGET, '  pool: { maxAge: 5min }').replace('shop }', 'pay }')}`
    expect(await server.complaints(text)).toEqual([{ line: 14, message: expect.stringContaining('duration') }])
  })
})

describe('an editor finds nothing wrong with', () => {
  it('keys that begin with x- at the top, anchors and merges', async () => {
    const quick = 'x-quick: &quick { connect: 500ms, total: 5s }\nx-hosts: &hosts [shop.internal]'
    const text = upstream(
      TARGET,
      '  match: { hosts: *hosts }',
      '  timeouts: { <<: *quick, idle: 10s }',
      '  routes:',
      '    - name: a',
      '      match: {}',
      '      timeouts:',
      '        <<: [*quick]',
    ).replace('metadata', `${quick}\nmetadata`)
    expect(await server.complaints(text)).toEqual([])
  })

  it('a file of both kinds that its settings map to the schema, without a comment', async () => {
    const schema = pathToFileURL(`${ROOT}schemas/forbear.schema.json`).href
    const other = await LanguageServer.start({ [schema]: 'policies/*.yaml' })
    const policy = `${FORMAT}\nkind: Policy\nmetadata: { name: careful }\nspec: { retry: { maxAttempts: 2 } }\n`
    const both = `${policy}---\n${upstream(TARGET, '  policyRef: careful').replace(`${COMMENT}\n`, '')}`
    expect(await other.complaints(both)).toEqual([])
    expect(await other.complaints(both.replace('careful\n', '3\n'))).toEqual([
      { line: 11, message: expect.any(String) },
    ])
    await other.stop()
  })
})
