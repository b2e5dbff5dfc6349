import { describe, expect, it } from 'vitest'
import { load, messagesOf, together, upstream } from './set.js'

const told = (lines: string) => messagesOf(upstream(lines)).map(line => line.replace(/^a\.yaml:\d+:\d+ {2}/, ''))
const route = (match: string) => told(`routes: [{ name: a, match: { ${match} } }]`)
const wild = (at: string, wildcard: string, remedy: string) => [
  `${at}  warning: "${wildcard}" is no wildcard here and matches only itself: ${remedy} [FB070]`,
]

describe('a wildcard of another tool', () => {
  it.each([
    ['/orders/*', '*', '{name} stands for one segment, write path: /orders/{id}, or pathPrefix: /orders for all below'],
    ['/orders/:order', ':order', '{name} stands for one segment, write path: /orders/{order}'],
    ['/<int:order>/x', '<int:order>', '{name} stands for one segment, write path: /{order}/x'],
    ['/orders/.*', '.*', 'for all paths below, write pathPrefix: /orders'],
    ['/orders/**', '**', 'for all paths below, write pathPrefix: /orders'],
    ['/a/*/b', '*', '{name} stands for one segment, write path: /a/{id}/b'],
  ])('in the path %s', (path, wildcard, remedy) => {
    expect(route(`path: '${path}'`)).toEqual(wild('spec.routes[0].match.path', wildcard, remedy))
  })

  it('in a prefix', () => {
    expect(route("pathPrefix: '/orders/*'")).toEqual(
      wild('spec.routes[0].match.pathPrefix', '*', 'a prefix matches all paths below it, write pathPrefix: /orders'),
    )
    expect(route("pathPrefix: '/:tenant/orders'")).toEqual(
      wild('spec.routes[0].match.pathPrefix', ':tenant', 'only a path has {name}, write path: /{tenant}/orders'),
    )
    expect(told('match: { pathPrefix: /x/* }')).toEqual(
      wild('spec.match.pathPrefix', '*', 'a prefix matches all paths below it, write pathPrefix: /x'),
    )
  })

  it('is none where the character is part of an honest path', () => {
    expect(route("path: '/v1/projects/p:cancel'")).toEqual([])
    expect(route("path: '/odata/$metadata'")).toEqual([])
  })
})

describe('a method that is none', () => {
  it('is told with the one that was meant', () => {
    expect(route('methods: [GTE, DELTE, GET]')).toEqual([
      'spec.routes[0].match.methods[0]  warning: "GTE" is not a method that is in use; did you mean GET? [FB071]',
      'spec.routes[0].match.methods[1]  warning: "DELTE" is not a method that is in use; did you mean DELETE? [FB071]',
    ])
    expect(route('methods: [ANY]')).toEqual([
      'spec.routes[0].match.methods[0]  warning: ANY is a method of that name here: for any method, leave methods out [FB071]',
    ])
    expect(route('methods: [PROPFIND, QUERY, PURGE, REPORT]')).toEqual([])
  })
})

describe('two upstreams for one URL', () => {
  const at = (name: string, target: string, lines = '') =>
    upstream(lines, name).replace(`https://${name}.example.com`, target)

  it('with one target give a warning', () => {
    const set = together(at('a', 'http://x:80/'), at('b', 'http://X'), at('c', 'http://x/c'), at('d', 'http://x:81'))
    expect(messagesOf(set)).toEqual([
      'a.yaml:12:11  spec.target  warning: this is also the target of the Upstream "a" at a.yaml:5: calls to this URL go there [FB072]',
    ])
    expect(load(set)).toMatchObject({ ok: true })
  })

  it('one by its host, the other by its target, give a warning in either order', () => {
    const b = at('b', 'http://b.example.com:8080')
    const c = at('c', 'http://c.example.com', 'match: { hosts: [b.example.com] }')
    expect(messagesOf(together(b, c))).toEqual([
      'a.yaml:13:20  spec.match.hosts[0]  warning: the host b.example.com is the target of the Upstream "b": calls to its URL go to "c" [FB072]',
    ])
    expect(messagesOf(together(c, b))).toEqual([
      'a.yaml:12:11  spec.target  warning: the host b.example.com is in match.hosts of the Upstream "c" at a.yaml:6: calls to this URL go there [FB072]',
    ])
  })

  it('that name the host of their own target are none', () => {
    expect(messagesOf(upstream('match: { hosts: [payments.example.com] }'))).toEqual([])
  })
})
