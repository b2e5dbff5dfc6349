import { describe, expect, it } from 'vitest'
import { messagesOf, policy, together, upstream } from './set.js'

const told = (lines: string) => messagesOf(upstream(lines)).map(line => line.replace(/^[^ ]+ {2}/, ''))
const left = (variable: string, remedy = 'run envsubst first') =>
  `${variable} is left: variables are not expanded: ${remedy} [FB012]`

describe('a variable that nobody expanded', () => {
  it.each([
    ['tls: { caFile: "/etc/${CA}/ca.pem" }', `spec.tls.caFile  ${left('${CA}')}`],
    ['tls: { serverName: $(NAME) }', `spec.tls.serverName  ${left('$(NAME)', 'write the value')}`],
    ['hostHeader: ${HOST}', `spec.hostHeader  ${left('${HOST}')}`],
    ['retry: { idempotency: { keyHeaders: [$KEY] } }', `spec.retry.idempotency.keyHeaders[0]  ${left('$KEY')}`],
    ['retry: { onHeaders: { "${NAME}": a } }', `spec.retry.onHeaders["\${NAME}"]  ${left('${NAME}')}`],
    ['match: { hosts: ["${HOST}"] }', `spec.match.hosts[0]  ${left('${HOST}')}`],
    ['match: { pathPrefix: /$(BASE) }', `spec.match.pathPrefix  ${left('$(BASE)', 'write the value')}`],
    [
      'routes: [{ name: a, match: { path: /$(BASE)/x } }]',
      `spec.routes[0].match.path  ${left('$(BASE)', 'write the value')}`,
    ],
    ['timeouts: { total: $TOTAL }', `spec.timeouts.total  ${left('$TOTAL')}`],
  ])('in %s is told once', (lines, message) => {
    expect(told(lines)).toEqual([message])
  })

  it('in the base path of the target is told', () => {
    expect(messagesOf(upstream().replace('https://payments', 'https://payments/$(BASE)'))).toEqual([
      expect.stringContaining(left('$(BASE)', 'write the value')),
    ])
  })

  it.each([
    'routes: [{ name: a, match: { path: "/orders/{id}" } }]',
    'routes: [{ name: a, match: { path: /$metadata } }]',
    'tls: { caFile: /etc/a$b/ca.pem }',
    'retry: { onHeaders: { x: $(VALUE) } }',
    'retry: { idempotency: { keyHeaders: [$x-key] } }',
  ])('is not %s', lines => {
    expect(messagesOf(upstream(lines))).toEqual([])
  })

  it('may stand in metadata, which is for whoever wrote it', () => {
    expect(
      messagesOf(upstream().replace('{ name: payments }', '{ name: payments, annotations: { a: "${B}" } }')),
    ).toEqual([])
  })
})

describe('a policyRef of the wrong form', () => {
  const ref = (name: string) => upstream(`policyRef: ${name}`)

  it('suggests a Policy that there is', () => {
    expect(messagesOf(together(ref('Default'), policy('propagate: true', 'default')))).toEqual([
      'a.yaml:6:14  spec.policyRef  "Default" is not the name of a Policy; did you mean default? [FB037]',
    ])
  })

  it('suggests none that there is not', () => {
    expect(messagesOf(ref('Default'))).toEqual([
      'a.yaml:6:14  spec.policyRef  "Default" is not the name of a Policy [FB037]',
    ])
  })
})
