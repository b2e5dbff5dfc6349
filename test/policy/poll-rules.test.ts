import { describe, expect, it } from 'vitest'
import { messagesOf, policy, snapshotOf, upstream } from './set.js'

/** A route whose poll is as given; the poll stands in line 9. */
const polled = (poll: string, { match = '{ methods: [GET], path: "/jobs/{id}" }', more = '' } = {}) =>
  upstream(`routes:\n  - name: job\n    match: ${match}\n    poll: ${poll}\n${more}`)
const toldOf = (...args: Parameters<typeof polled>) =>
  messagesOf(polled(...args)).map(line => line.replace(/^a\.yaml:(\d+:\d+) {2}/, '$1 '))

describe('a poll that is written', () => {
  const { poll } = snapshotOf(
    polled('{ until: { status: [200, 404], json: { pointer: /a~1b/0, in: [done, 3, true] } }, maxWait: 1m }'),
  ).upstreams.get('payments')!.routes[0]!.policy

  it('is compiled to numbers, sets and the keys of the pointer', () => {
    expect(poll).toEqual({
      until: {
        statuses: new Set([200, 404]),
        json: { keys: ['a/b', '0'], test: { kind: 'in', values: ['done', 3, true] } },
      },
      backoff: { kind: 'exponential', baseMs: 1000, factor: 2, capMs: 60_000, jitter: { kind: 'equal' } },
      maxWaitMs: 60_000,
    })
  })

  it('takes one value for a list of one, and a condition on mere existence', () => {
    const conditionOf = (json: string) =>
      snapshotOf(polled(`{ until: { json: ${json} } }`)).upstreams.get('payments')!.routes[0]!.policy.poll?.until
    expect(conditionOf('{ pointer: "", equals: false }')).toEqual({
      statuses: null,
      json: { keys: [], test: { kind: 'in', values: [false] } },
    })
    expect(conditionOf('{ pointer: /result, exists: true }')?.json?.test).toEqual({ kind: 'exists', wanted: true })
  })

  it('is that of its route alone', () => {
    const payments = snapshotOf(polled('{ until: { status: [200] } }')).upstreams.get('payments')!
    expect(payments.policy.poll).toBe(null)
    expect(payments.routes[0]!.policy.poll).not.toBe(null)
  })
})

describe('a poll that makes no sense', () => {
  it.each([
    ['{ maxWait: 5m }', '9:7 spec.routes[0].poll.until  until is missing [FB032]'],
    ['{ until: {} }', '9:15 spec.routes[0].poll.until  until says nothing'],
    ['{ until: { json: { equals: done } } }', 'pointer is missing [FB032]'],
    ['{ until: { json: { pointer: /a } } }', 'json needs equals, in or exists beside the pointer'],
    ['{ until: { json: { pointer: /a, equals: b, in: [c] } } }', 'equals and in exclude each other: keep one [FB059]'],
    ['{ until: { json: { pointer: status, equals: b } } }', '"status" is not a JSON pointer such as /status'],
    ['{ until: { status: [503] } }', '503 is out of range: a status from 200 to 499'],
    ['{ until: { status: [200] }, backoff: { base: 1ms } }', '1ms is out of range'],
    ['{ until: { status: [200] }, backoff: { jitter: [2, 1] } }', 'the range begins at 2, above its end 1'],
    ['{ until: { status: [200] }, backoff: { base: 10m } }', 'every wait is as long as the cap [FB056]'],
    ['{ until: { status: [200] }, backoff: { kind: fixed, factor: 3 } }', 'factor 3 does nothing'],
    ['{ until: { status: [200] }, maxWait: 500ms }', 'the polling is over before its first repeat [FB088]'],
  ])('%s is told so in one message', (poll, text) => {
    const told = toldOf(poll).filter(line => !line.includes('FB088') || text.includes('FB088'))
    expect(told).toEqual([expect.stringContaining(text)])
  })

  it('is told beside methods that are never polled, and beside a long poll', () => {
    const until = '{ until: { json: { pointer: /a, exists: true } } }'
    expect(toldOf(until, { match: '{ methods: [POST, HEAD] }' })).toEqual([
      '9:7 spec.routes[0].poll  warning: poll does nothing for POST or HEAD: a HEAD has no document to judge [FB086]',
    ])
    expect(toldOf(until, { match: '{ methods: [POST, GET] }' })).toEqual([])
    expect(toldOf(until, { match: '{}' })).toEqual([])
    expect(toldOf(until, { more: '    longPoll: true' })).toEqual([expect.stringContaining('[FB087]')])
  })

  it('is told where no call may wait', () => {
    expect(toldOf('{ until: { status: [200] } }', { more: '    limits: { maxWaiting: 0 }' })).toEqual([
      expect.stringContaining('limits.maxWaiting 0 with poll: calls shall wait and none may [FB055]'),
    ])
  })

  it('is sent to the routes when it stands elsewhere', () => {
    const poll = 'poll: { until: { status: [200] } }'
    for (const text of [upstream(poll), policy(poll)])
      expect(messagesOf(text)).toEqual([expect.stringContaining('it belongs under spec.routes[]')])
  })
})
