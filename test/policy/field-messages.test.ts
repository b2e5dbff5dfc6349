import { describe, expect, it } from 'vitest'
import { messagesOf, policy, together, upstream } from './set.js'

/** Of one document; place and code are dropped where only the words matter. */
const told = (lines: string) => messagesOf(upstream(lines)).map(line => line.replace(/^a\.yaml:\d+:\d+ {2}/, ''))

describe('a mistake in a field', () => {
  it.each([
    ['retry: { maxAtempts: 3 }', 'spec.retry.maxAtempts  unknown key "maxAtempts"; did you mean maxAttempts? [FB030]'],
    [
      'retry: { max_attempts: 3 }',
      'spec.retry.max_attempts  unknown key "max_attempts"; did you mean maxAttempts? [FB030]',
    ],
    ['match: { host: a.b }', 'spec.match.host  unknown key "host"; did you mean hosts? [FB030]'],
    ['"retry ": { maxAttempts: 3 }', 'spec["retry "]  unknown key "retry "; did you mean retry? [FB030]'],
    ['maxAttempts: 3', 'spec.maxAttempts  unknown key "maxAttempts" here; it belongs under spec.retry [FB030]'],
    ['budget: { frob: 1 }', 'spec.budget.frob  unknown key "frob"; known here: ratio, window, minPerSecond [FB030]'],
    ['park: off', 'spec.park  expected a mapping, got the text "off": write { accept: never } [FB034]'],
    [
      'park: { enabled: false }',
      'spec.park.enabled  unknown key "enabled": there is no such switch; to turn park off, write accept: never [FB030]',
    ],
    [
      'park: { frob: 1 }',
      'spec.park.frob  unknown key "frob"; known here: accept, store, first, every, maxAge, maxAttempts, maxBytes, onParked, onDead, keyFile, secretHeaders [FB030]',
    ],
    ['poll: { maxWait: 5m }', 'spec.poll  unknown key "poll" here; it belongs under spec.routes[] [FB030]'],
    [
      'hedge: { after: p9 }',
      'spec.hedge.after  "p9" is not a duration such as 250ms or 1m30s, from 1ms to 10m, or a quantile from p50 to p99.9 [FB037]',
    ],
    [
      'hedge: { after: 50 }',
      'spec.hedge.after  expected a duration such as 250ms or 1m30s, from 1ms to 10m, or a quantile from p50 to p99.9, got 50: add a unit, such as 50s or 50ms [FB034]',
    ],
    [
      'hedge: { after: 11m }',
      'spec.hedge.after  11m is out of range: a duration such as 250ms or 1m30s, from 1ms to 10m, or a quantile from p50 to p99.9 [FB036]',
    ],
    ['hedge: p95', 'spec.hedge  expected a mapping, got the text "p95": write { after: p95 } [FB034]'],
    ['hedge: off', 'spec.hedge  expected a mapping, got the text "off": write { mode: disabled } [FB034]'],
    ['hedge: { mode: on }', 'spec.hedge.mode  "on" is not enabled, observe or disabled; did you mean enabled? [FB035]'],
    [
      'hedge: { enabled: false }',
      'spec.hedge.enabled  unknown key "enabled": there is no such switch; to turn hedge off, write mode: disabled [FB030]',
    ],
    ['routes: [{ match: {} }]', 'spec.routes[0].name  name is missing [FB032]'],
    ['retry:', 'spec.retry  retry is empty: remove the key or give it a value [FB033]'],
    ['timeouts: { total: ~ }', 'spec.timeouts.total  total is empty: remove the key or give it a value [FB033]'],
    [
      'retry: { maxAttempts: "3" }',
      'spec.retry.maxAttempts  expected a whole number from 1 to 50, got the text "3": write 3 without quotes [FB034]',
    ],
    [
      'retry: { maxAttempts: 1_0 }',
      'spec.retry.maxAttempts  expected a whole number from 1 to 50, got the text "1_0": write 10 [FB034]',
    ],
    ['retry: { maxAttempts: 1.5 }', 'spec.retry.maxAttempts  expected a whole number from 1 to 50, got 1.5 [FB034]'],
    ['retry: { maxAttempts: true }', 'spec.retry.maxAttempts  expected a whole number from 1 to 50, got true [FB034]'],
    ['budget: { ratio: .inf }', 'spec.budget.ratio  expected a number from 0 to 10, got .inf [FB034]'],
    ['retry: [3]', 'spec.retry  expected a mapping, got a list [FB034]'],
    ['retry: { retryOn: 503 }', 'spec.retry.retryOn  expected a list, got 503: write [503] [FB034]'],
    [
      'propagate: on',
      'spec.propagate  expected true or false, got the text "on": on is text in YAML 1.2, write true [FB034]',
    ],
    [
      'timeouts: { total: 5 }',
      'spec.timeouts.total  expected a duration such as 250ms or 1m30s, from 1ms to 24h, or none, got 5: add a unit, such as 5s or 5ms [FB034]',
    ],
    [
      'retry: { maxBody: 64 }',
      'spec.retry.maxBody  expected a size such as 64KiB, from 0B to 64MiB, got 64: add a unit, such as 64KiB [FB034]',
    ],
    [
      'retry: { onHeaders: { x-a: true } }',
      'spec.retry.onHeaders.x-a  expected text, got true: put it in quotes [FB034]',
    ],
    [
      'retry: { retryOn: ["503"] }',
      'spec.retry.retryOn[0]  "503" is not connect, reset, timeout, or a status from 400 to 599 without quotes; write 503 without quotes [FB034]',
    ],
    [
      'breaker: { mode: enforced }',
      'spec.breaker.mode  "enforced" is not enforce, observe or disabled; did you mean enforce? [FB035]',
    ],
    [
      'breaker: { mode: off }',
      'spec.breaker.mode  "off" is not enforce, observe or disabled; did you mean disabled? [FB035]',
    ],
    [
      'breaker: { mode: false }',
      'spec.breaker.mode  expected enforce, observe or disabled, got false: write one of the words; tools of YAML 1.1 turn on, yes, off and no into true and false [FB034]',
    ],
    [
      'retry: { maxAttempts: 0 }',
      'spec.retry.maxAttempts  0 would be no call at all: write 1, the first attempt counts [FB036]',
    ],
    ['retry: { maxAttempts: -1 }', 'spec.retry.maxAttempts  -1 is out of range: a whole number from 1 to 50 [FB036]'],
    ['budget: { ratio: 11 }', 'spec.budget.ratio  11 is out of range: a number from 0 to 10; 11 % is 0.11 [FB036]'],
    [
      'timeouts: { connect: 11m }',
      'spec.timeouts.connect  11m is out of range: a duration such as 250ms or 1m30s, from 1ms to 10m, or none [FB036]',
    ],
    [
      'budget: { window: none }',
      'spec.budget.window  "none" is not a duration such as 250ms or 1m30s, from 1s to 10m [FB037]',
    ],
    [
      'timeouts: { total: 1.5s }',
      'spec.timeouts.total  "1.5s" is not a duration such as 250ms or 1m30s, from 1ms to 24h, or none; did you mean 1500ms? [FB037]',
    ],
    ...(
      [
        ['30sec', '30s'],
        ['5 s', '5s'],
        ['5S', '5s'],
        ['1d', '24h'],
        ['0.5h', '30m'],
        ['PT1M', '1m'],
        ['30s1m', '1m30s'],
        ['2 minutes', '2m'],
        ['never', 'none'],
      ] as const
    ).map(([written, meant]): [string, string] => [
      `timeouts: { total: ${written} }`,
      `spec.timeouts.total  "${written}" is not a duration such as 250ms or 1m30s, from 1ms to 24h, or none; did you mean ${meant}? [FB037]`,
    ]),
    ...(
      [
        ['64KB', '64KiB'],
        ['64K', '64KiB'],
        ['64kib', '64KiB'],
        ['1.5M', '1536KiB'],
        ['100 bytes', '100B'],
      ] as const
    ).map(([written, meant]): [string, string] => [
      `retry: { maxBody: ${written} }`,
      `spec.retry.maxBody  "${written}" is not a size such as 64KiB, from 0B to 64MiB; did you mean ${meant}? [FB037]`,
    ]),
    [
      'timeouts: { total: "30" }',
      'spec.timeouts.total  "30" is not a duration such as 250ms or 1m30s, from 1ms to 24h, or none; add a unit, such as 30s or 30ms [FB037]',
    ],
    [
      'timeouts: { total: 0 }',
      'spec.timeouts.total  expected a duration such as 250ms or 1m30s, from 1ms to 24h, or none, got 0: write none for no limit [FB034]',
    ],
    ['timeouts: 5s', 'spec.timeouts  expected a mapping, got the text "5s": write { total: 5s } [FB034]'],
    ['breaker: off', 'spec.breaker  expected a mapping, got the text "off": write { mode: disabled } [FB034]'],
    ['routes: { a: {} }', 'spec.routes  expected a list, got a mapping: write a list, each item after a dash [FB034]'],
    [
      'budget: { ratio: 20% }',
      'spec.budget.ratio  expected a number from 0 to 10, got the text "20%": write 0.2 [FB034]',
    ],
    [
      'breaker: { failureRatio: 50 }',
      'spec.breaker.failureRatio  50 is out of range: a number from 0.01 to 1; 50 % is 0.5 [FB036]',
    ],
    [
      'retry: { retryOn: [5xx] }',
      'spec.retry.retryOn[0]  "5xx" is not connect, reset, timeout, or a status from 400 to 599 without quotes; did you mean 502, 503, 504? [FB037]',
    ],
    [
      'retry: { backoff: { jitter: [a, b, c] } }',
      'spec.retry.backoff.jitter  must be none, full, equal, decorrelated, or a range such as [0.8, 1.2] [FB038]',
    ],
    [
      'retry: { backoff: { kind: constant } }',
      'spec.retry.backoff.kind  "constant" is not exponential, linear or fixed; did you mean fixed? [FB035]',
    ],
    ...(
      [
        ['retries: 3', 'spec.retries', 'retries', 'retry.maxAttempts'],
        ['retries: { a: 1 }', 'spec.retries', 'retries', 'retry'],
        ['retry: { numRetries: 3 }', 'spec.retry.numRetries', 'numRetries', 'maxAttempts'],
        ['retry: { perTryTimeout: 2s }', 'spec.retry.perTryTimeout', 'perTryTimeout', 'spec.timeouts.attempt'],
        ['retry: { initialInterval: 1s }', 'spec.retry.initialInterval', 'initialInterval', 'backoff.base'],
        ['retry: { policy: exponential }', 'spec.retry.policy', 'policy', 'backoff.kind'],
        ['timeout: 5s', 'spec.timeout', 'timeout', 'timeouts.total'],
        ['timeout: { total: 5s }', 'spec.timeout', 'timeout', 'timeouts'],
        ['timeoutMs: 500', 'spec.timeoutMs', 'timeoutMs', 'timeouts.total'],
        ['circuitBreaker: { mode: observe }', 'spec.circuitBreaker', 'circuitBreaker', 'breaker'],
        ['breaker: { enabled: true }', 'spec.breaker.enabled', 'enabled', 'mode'],
        ['host: a', 'spec.host', 'host', 'target'],
        ['maxAtempts: 3', 'spec.maxAtempts', 'maxAtempts', 'spec.retry.maxAttempts'],
        ['routes: [{ name: a, match: {}, attempts: 3 }]', 'spec.routes[0].attempts', 'attempts', 'retry.maxAttempts'],
      ] as const
    ).map(([lines, path, key, meant]): [string, string] => [
      lines,
      `${path}  unknown key "${key}"; did you mean ${meant}? [FB030]`,
    ]),
    ...(
      [
        ['retryOn: [503]', 'spec', 'retryOn', 'under spec.retry'],
        ['mode: observe', 'spec', 'mode', 'under spec.breaker, spec.pace, spec.throttle or spec.hedge'],
        ['window: 1s', 'spec', 'window', 'under spec.budget, spec.breaker or spec.throttle'],
        [
          'retry: { cap: 1s }',
          'spec.retry',
          'cap',
          'under spec.retry.backoff, spec.retry.throttled or spec.retry.retryAfter',
        ],
        ['name: b', 'spec', 'name', 'under metadata'],
        ['metadata: { name: b }', 'spec', 'metadata', 'at the top of the document'],
        [
          'routes: [{ name: a, match: {}, maxAttempts: 3 }]',
          'spec.routes[0]',
          'maxAttempts',
          'under spec.routes[0].retry',
        ],
        ['routes: [{ match: { name: a } }]', 'spec.routes[0].match', 'name', 'under spec.routes[0]'],
      ] as const
    ).map(([lines, parent, key, home]): [string, string] => [
      lines,
      `${parent}.${key}  unknown key "${key}" here; it belongs ${home} [FB030]`,
    ]),
    [
      'routes: [{ name: a, path: /x }]',
      'spec.routes[0].path  match is missing: path stands here and belongs under match: write it above, and indent it [FB032]',
    ],
    [
      'retry:\nmaxAttempts: 3\nretryOn: [503]',
      'spec.retry  retry is empty: maxAttempts and retryOn stand beside it and belong under it; indent them [FB033]',
    ],
    ['hedging: { enabled: on }', 'spec.hedging  unknown key "hedging"; did you mean hedge? [FB030]'],
    [
      'retry: { retryOn: [conect] }',
      'spec.retry.retryOn[0]  "conect" is not connect, reset, timeout, or a status from 400 to 599 without quotes; did you mean connect? [FB037]',
    ],
    [
      'routes: [{ name: a, match: { methods: [get] } }]',
      'spec.routes[0].match.methods[0]  "get" is not a method in capitals; did you mean GET? [FB037]',
    ],
    ['retry: { onHeaders: { "a b": x } }', 'spec.retry.onHeaders["a b"]  "a b" is not a header name [FB037]'],
    ['retry: { retryOn: [503, 503] }', 'spec.retry.retryOn[1]  this item is in the list twice [FB038]'],
    [
      'routes: [{ name: a, match: { methods: [] } }]',
      'spec.routes[0].match.methods  has 0 entries; at least 1 are needed [FB038]',
    ],
    [
      'retry: { backoff: { jitter: [0.5] } }',
      'spec.retry.backoff.jitter  must be none, full, equal, decorrelated, or a range such as [0.8, 1.2] [FB038]',
    ],
    [
      'retry: { backoff: { jitter: [1.2, 0.8] } }',
      'spec.retry.backoff.jitter  the range begins at 1.2, above its end 0.8 [FB036]',
    ],
    ['listen: 15101', 'spec.listen  expected host:port, got 15101: write 127.0.0.1:15101 [FB034]'],
    [
      'timeouts: { idle: None }',
      'spec.timeouts.idle  "None" is not a duration such as 250ms or 1m30s, from 1ms to 24h, or none; did you mean none? [FB037]',
    ],
    [
      'timeouts: { idle: 1s, idle: 2s }',
      'spec.timeouts.idle  the key idle stands here twice, both at line 6: keep one [FB011]',
    ],
    ['listen: :15102', 'spec.listen  ":15102" is not host:port; did you mean 127.0.0.1:15102? [FB037]'],
    ['listen: 127.0.0.1', 'spec.listen  "127.0.0.1" has no port: write 127.0.0.1:15101, or whichever is free [FB037]'],
    [
      'match: { pathPrefix: /x?y }',
      'spec.match.pathPrefix  "/x?y" has a query, and only the path is matched; did you mean /x? [FB037]',
    ],
    [
      'match: { pathPrefix: /x//y/../z }',
      'spec.match.pathPrefix  "/x//y/../z" has an empty segment: // counts as written [FB037]',
    ],
    [
      'match: { pathPrefix: /x//y }',
      'spec.match.pathPrefix  "/x//y" has an empty segment: // counts as written; did you mean /x/y? [FB037]',
    ],
    [
      'routes: [{ name: a, match: { pathPrefix: "/orders/{id}" } }]',
      'spec.routes[0].match.pathPrefix  "/orders/{id}" has {id}: only the path of a route has variables; the prefix before it is /orders [FB037]',
    ],
    [
      'routes: [{ name: a, match: { path: orders } }]',
      'spec.routes[0].match.path  "orders" is not a path that begins with /, with {name} for a whole segment; did you mean /orders? [FB037]',
    ],
    [
      'routes: [{ name: a, match: { path: "https://a.example/orders?x" } }]',
      'spec.routes[0].match.path  "https://a.example/orders?***" is a URL; did you mean /orders? [FB037]',
    ],
    [
      'match: { hosts: ["*.internal"] }',
      'spec.match.hosts[0]  "*.internal" has a wildcard: write each host by its name [FB037]',
    ],
    [
      'match: { hosts: [x.internal.] }',
      'spec.match.hosts[0]  "x.internal." ends in a dot; did you mean x.internal? [FB037]',
    ],
    [
      'match: { hosts: ["x.internal:80"] }',
      'spec.match.hosts[0]  "x.internal:80" has a port: a host counts with any; did you mean x.internal? [FB037]',
    ],
    [
      'match: { hosts: ["https://x.internal/a"] }',
      'spec.match.hosts[0]  "https://x.internal/a" is a URL; did you mean x.internal? [FB037]',
    ],
    [
      'listen: example.com:80',
      'spec.listen  "example.com" in "example.com:80" is neither localhost nor an IP address; write HOST:PORT: localhost:15080, 127.0.0.1:15080, [::1]:15080 or 0.0.0.0:15080 [FB037]',
    ],
    [
      'listen: 0.0.0.0:15101',
      'spec.listen  warning: 0.0.0.0:15101 can be reached from other hosts, which could then call the upstream as this app: prefer 127.0.0.1:15101 [FB060]',
    ],
    ['tls: { certFile: /a }', 'spec.tls.certFile  tls.certFile needs tls.keyFile beside it [FB059]'],
    [
      'routes: [{ name: a, match: { path: /a, pathPrefix: /b } }]',
      'spec.routes[0].match.pathPrefix  path and pathPrefix exclude each other: keep one [FB059]',
    ],
    [
      'routes: [{ name: a, match: {} }, { name: a, match: {} }]',
      'spec.routes[1].name  the route name "a" is taken at a.yaml:6 [FB040]',
    ],
  ])('%s', (lines, text) => {
    expect(told(lines)).toEqual([text])
  })

  it('is told of each item that is in a list twice', () => {
    const twice = (path: string) => `spec.${path}  this item is in the list twice [FB038]`
    expect(told('retry: { retryOn: [503, 503, 502, 502, 503] }')).toEqual(
      [1, 3, 4].map(index => twice(`retry.retryOn[${index}]`)),
    )
    expect(told('match: { hosts: [a.x, a.x, A.x, b.x] }')).toEqual([1, 2].map(index => twice(`match.hosts[${index}]`)))
  })

  it('in policyRef tells what the name is', () => {
    expect(messagesOf(together(policy('propagate: true', 'default'), upstream('policyRef: payments')))).toEqual([
      'a.yaml:12:14  spec.policyRef  no Policy is called "payments", which is an Upstream; there is default [FB044]',
    ])
  })

  it('in a List of documents tells how to write them', () => {
    expect(messagesOf('apiVersion: v1\nkind: List\nitems: []\n')).toEqual([
      'a.yaml:2:7  kind  kind "List" of "v1" is not a document of forbear; write its items as documents of their own, with --- between them [FB020]',
    ])
  })

  it('beside a value that a comma cuts does not hide it', () => {
    expect(told('limits: { maxInFlight: 1_000, maxWaiting: 1, 000 }')).toEqual([
      'spec.limits.maxInFlight  "1_000" is not a whole number from 1 to 1000000, or auto; write 1000 [FB034]',
      'spec.limits.000  unknown key "000": within { } a comma ends an unquoted value; put all of it in quotes, or give the key a value [FB030]',
    ])
  })

  it('is placed at the key or the value that is wrong', () => {
    expect(messagesOf(upstream('retry:\n  maxAtempts: 3\n  backoff: { base: 5 }'))).toEqual([
      expect.stringMatching(/^a\.yaml:7:5 {2}spec\.retry\.maxAtempts /),
      expect.stringMatching(/^a\.yaml:8:22 {2}spec\.retry\.backoff\.base /),
    ])
  })

  it('in a misspelt required key is told once', () => {
    expect(messagesOf(upstream().replace('target:', 'tagret:'))).toEqual([
      'a.yaml:5:3  spec.tagret  unknown key "tagret"; did you mean target? [FB030]',
    ])
  })

  it('is told for Policies too', () => {
    expect(messagesOf(policy('target: http://a\nretry: { backoff: { jitter: [2, 1] } }'))).toEqual([
      'a.yaml:5:3  spec.target  unknown key "target" here; it belongs under spec of an Upstream [FB030]',
      'a.yaml:6:31  spec.retry.backoff.jitter  the range begins at 2, above its end 1 [FB036]',
    ])
  })
})

describe('a hook', () => {
  it('has no user name, for no call can be made with it, and the message shows none', () => {
    const text = upstream('park: { accept: prefer, onDead: "http://user:hunter2@hooks.internal/dead" }')
    expect(messagesOf(text)).toEqual([expect.stringContaining('"http://***@hooks.internal/dead" is not http://')])
  })
})

describe('a target', () => {
  const target = (url: string) =>
    messagesOf(upstream().replace('https://payments.example.com', url)).map(line =>
      line.replace(/^.*spec\.target {2}/, ''),
    )
  const form = 'http:// or https://, a host, optionally a port and a base path; no user name, query or fragment'

  it.each([
    ['ftp://a', `"ftp://a" is not ${form} [FB037]`],
    [
      'payments.example.com',
      `"payments.example.com" is not ${form}; did you mean https://payments.example.com? [FB037]`,
    ],
    ['payments:8080', `"payments:8080" is not ${form}; did you mean http://payments:8080? [FB037]`],
    ['https//a', `"https//a" is not ${form}; did you mean https://a? [FB037]`],
    ['https:/x', `"https:/x" is not ${form}; did you mean https://x? [FB037]`],
    ['HTTPS://X.example', '"HTTPS://X.example" has a scheme in capitals; did you mean https://X.example? [FB037]'],
    [
      'https://tschüss.example/a',
      '"https://tschüss.example/a" has a host that is not ASCII: write it as DNS has it; did you mean https://xn--tschss-6ya.example/a? [FB037]',
    ],
    [
      'https://x.example#f',
      '"https://x.example#***" has a fragment: leave it out; did you mean https://x.example? [FB037]',
    ],
    ['http://a:0', '"http://a:0" has the port 0: a port is a number from 1 to 65535 [FB037]'],
    ['http://a:70000', '"http://a:70000" has the port 70000: a port is a number from 1 to 65535 [FB037]'],
    ['http://300.1.1.1', '"http://300.1.1.1" has a host that is neither a name nor an IP address [FB037]'],
    ['http://a/b/../c', '"http://a/b/../c" has a base path with . or .. as a segment [FB037]'],
    [
      'http://a/caf\u00e9',
      '"http://a/caf\u00e9" has a base path with a character that a URL can only have percent-encoded [FB037]',
    ],
  ])('%s is refused', (url, text) => {
    expect(target(url)).toEqual([text])
  })

  it('does not carry its secrets into a message', () => {
    expect(target('https://user:hunter2@a.example/b')).toEqual([
      '"https://***@a.example/b" has a user name: leave it out [FB037]',
    ])
    expect(target('https://a.example/b?key=hunter2')).toEqual([
      '"https://a.example/b?***" has a query: leave it out; did you mean https://a.example/b? [FB037]',
    ])
    expect(target(`https://user:${'hunter2'.repeat(20)}@a`)).toEqual([
      '"https://***@a" has a user name: leave it out [FB037]',
    ])
  })

  it('over http has no tls', () => {
    const text = upstream('tls: { caFile: /ca.pem }').replace('https:', 'http:')
    expect(messagesOf(text)).toEqual([
      'a.yaml:6:3  spec.tls  tls is set, but spec.target is an http URL: write https:// or remove tls [FB059]',
    ])
  })
})
