import { describe, expect, it } from 'vitest'
import { messagesOf, upstream } from './set.js'

describe('a file', () => {
  it('that is not YAML gets one message per document, at the first stumble', () => {
    const broken = `${upstream('', 'a')}  timeouts: { total: 3s\n  retry: ]`
    expect(messagesOf(`${broken}\n---\n${upstream('x: 1', 'b')}`)).toEqual([
      'a.yaml:6:13  the { opened here is not closed [FB010]',
      expect.stringContaining('spec.x  unknown key "x"'),
    ])
  })

  it('with tabs for indentation is refused at the tab', () => {
    expect(messagesOf(upstream('retry:').replace('  retry:', '\tretry:'))).toEqual([
      'a.yaml:6:1  a tab where spaces belong: YAML is indented with spaces only [FB010]',
    ])
  })

  it.each([
    ['[', 64],
    ['{a: ', 253],
    ['- ', 127],
  ])('of nothing but %j, again and again, is nested too deeply and read no further', (text, column) => {
    expect(messagesOf(text.repeat(100_000))).toEqual([
      `a.yaml:1:${column}  nested more than 32 deep: no more is read [FB014]`,
    ])
  })

  it('that is nested a little too deeply is refused where it is', () => {
    expect(messagesOf(`x-a: ${'['.repeat(40)}${']'.repeat(40)}\n${upstream()}`)).toEqual([
      'a.yaml:1:38  nested more than 32 deep [FB014]',
    ])
  })

  it('with more values than any set needs is refused', () => {
    expect(messagesOf(`x-a:\n${`- [${'1,'.repeat(1000)}]\n`.repeat(200)}${upstream()}`)).toEqual([
      'a.yaml:135:222  more than 400000 words, marks and line ends in one file: no more are read [FB018]',
    ])
  })

  it('with tags of other tools is refused', () => {
    expect(messagesOf(upstream('timeouts: { total: !secret 5s }'))).toEqual([
      'a.yaml:6:22  !secret is a tag, and tags are not supported: remove it, or put the value in quotes if it begins with ! [FB017]',
    ])
  })

  it('without a character is refused', () => {
    expect(messagesOf({ 'a.yaml': ' \n', 'b.yaml': upstream() })).toEqual([
      'a.yaml  is empty: give it a document or remove it [FB002]',
    ])
  })

  it.for(['# nothing\n', '---\n', '# nothing\n---\n---\n', '%YAML 1.2\n---\n# later\n...\n', '\ufeff# nothing'])(
    'of comments and separators alone is refused, also beside others: %j',
    text => {
      const wanted = ['a.yaml  holds only comments: give it a document or remove the file [FB002]']
      expect(messagesOf({ 'a.yaml': text })).toEqual(wanted)
      expect(messagesOf({ 'a.yaml': text, 'b.yaml': upstream() })).toEqual(wanted)
    },
  )

  it('without a document and with a mistake has the one message of the mistake', () => {
    expect(messagesOf({ 'a.yaml': '# {{ later\n---\n{{ x }}\n', 'b.yaml': upstream() })).toHaveLength(1)
  })

  it('has its own anchors in each document', () => {
    expect(messagesOf(`x-a: &a { total: 5s }\n${upstream('', 'a')}\n---\n${upstream('timeouts: *aa', 'b')}`)).toEqual([
      'a.yaml:14:13  spec.timeouts  *aa has no &aa before it in this document [FB015]',
    ])
  })

  it('with a mistake behind an anchor is told of it once, where the anchor stands', () => {
    expect(
      messagesOf(`x-r: &r { maxAttempts: 0 }\n${upstream('retry: *r\nroutes: [{ name: a, match: {}, retry: *r }]')}`),
    ).toEqual([
      'a.yaml:1:24  spec.retry.maxAttempts  0 would be no call at all: write 1, the first attempt counts [FB036]',
    ])
  })
})

describe('a key', () => {
  it.each([
    ['? [a]\n: 2', 'a key must be text, not a mapping, list or alias'],
    ['~: 2', 'a key is missing before the colon'],
    ['false: 2', 'the key is the truth value false: tools of YAML 1.1 turn on, yes, off and no into it'],
  ])('%s is refused', (line, text) => {
    expect(messagesOf(upstream(`x: 1\n${line}`))).toEqual([
      expect.stringContaining('spec.x  unknown key'),
      expect.stringContaining(`spec  ${text} [FB016]`),
    ])
  })

  it('may be any name, those of object prototypes too', () => {
    expect(messagesOf(`x-any: { __proto__: 1, constructor: 2 }\n${upstream()}`)).toEqual([])
    expect(messagesOf(upstream('retry: { __proto__: { maxAttempts: 0 }, constructor: 1 }'))).toEqual([
      expect.stringContaining('spec.retry.__proto__  unknown key "__proto__"'),
      expect.stringContaining('spec.retry.constructor  unknown key "constructor"'),
    ])
  })
})

describe('a document of somebody else', () => {
  const told = (text: string) => messagesOf(text).map(line => line.replace(/^a\.yaml:/, ''))
  const wanted = 'apiVersion: forbear.dev/v1alpha1 and kind: Upstream or Policy'

  it.each([
    [
      'apiVersion: v1\nkind: Pod\n',
      `2:7  kind  kind "Pod" of "v1" is not a document of forbear, which has ${wanted} [FB020]`,
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\n',
      '2:7  kind  kind "ConfigMap" of "v1" is not a document of forbear; put the files of its data into the directory [FB020]',
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yaml: |\n    apiVersion: forbear.dev/v1alpha1\n  b.txt: x\n',
      '2:7  kind  kind "ConfigMap" of "v1" is not a document of forbear; it holds policies under data (a.yaml): apply it and mount it, or write what stands there into files of their own; a ConfigMap is not read from a file [FB020]',
    ],
    [
      'services:\n  web: { image: x }\n',
      `1:1  not a document of forbear: it has neither apiVersion nor kind; it looks like a Docker Compose file; write an Upstream for each service that the app calls; write ${wanted} [FB020]`,
    ],
    [
      'apiVersion: networking.istio.io/v1\nkind: DestinationRule\n',
      '2:7  kind  kind "DestinationRule" of "networking.istio.io/v1" is not a document of forbear; it is an Istio traffic policy; its outlierDetection becomes spec.breaker of an Upstream [FB020]',
    ],
    [
      'kind: Upstrem\n',
      '1:1  apiVersion  apiVersion is missing: write forbear.dev/v1alpha1 [FB021]',
      '1:7  kind  kind "Upstrem" is not Upstream or Policy; did you mean Upstream? [FB022]',
    ],
    [
      'apiVersion: forbear.dev/v1\nkind: Upstreams\n',
      '1:13  apiVersion  apiVersion "forbear.dev/v1" is not known: write forbear.dev/v1alpha1 [FB021]',
      '2:7  kind  kind "Upstreams" is not Upstream or Policy; did you mean Upstream? [FB022]',
    ],
    ['apiVersion: forbear.dev/v1alpha1\n', '1:1  kind  kind is missing: write Upstream or Policy [FB022]'],
    [
      'apiVersion: forbear.dev/v1alpha1\nkind: upstreams\n',
      '2:7  kind  kind "upstreams" is not Upstream or Policy; did you mean Upstream? [FB022]',
    ],
    ['- a\n', `1:1  not a document of forbear, which is a mapping with ${wanted} [FB020]`],
    ['hello\n', `1:1  not a document of forbear, which is a mapping with ${wanted} [FB020]`],
    ['retries: 3\n', `1:1  not a document of forbear: it has neither apiVersion nor kind; write ${wanted} [FB020]`],
    [
      'kind:Upstream\nspec:x\n',
      `1:1  not a document of forbear, which is a mapping with ${wanted}; a space is missing after the colon of kind [FB020]`,
    ],
  ])('%j is refused by name, each mistake in one message', (text, ...messages) => {
    expect(told(text)).toEqual(messages)
  })

  it('of a version that is not known is judged nevertheless', () => {
    expect(told(upstream('retry: { maxAttempts: 0 }').replace('v1alpha1', 'v1'))).toEqual([
      '1:13  apiVersion  apiVersion "forbear.dev/v1" is not known: write forbear.dev/v1alpha1 [FB021]',
      expect.stringContaining('spec.retry.maxAttempts  0 would be no call at all'),
    ])
  })

  it.each([
    ['apiVersion', 'apiversion', '1:1'],
    ['kind', 'Kind', '2:1'],
  ])('with %s misspelt %s is told so', (key, written, place) => {
    expect(told(upstream().replace(`${key}:`, `${written}:`))).toEqual([
      `${place}  ${written}  unknown key "${written}"; did you mean ${key}? [FB030]`,
    ])
  })
})
