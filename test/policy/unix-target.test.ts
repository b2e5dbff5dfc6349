import { describe, expect, it } from 'vitest'
import { targetText } from '../../src/core/target-text.js'
import { parseTarget } from '../../src/policy/target.js'
import { messagesOf, snapshotOf, upstream } from './set.js'

const doc = (target: string, lines = '') => upstream(lines).replace('https://payments.example.com', target)

describe('a target on a unix socket', () => {
  it.each([
    ['http://unix:/run/app.sock', '/run/app.sock', ''],
    ['http://unix:/run/app.sock:/base', '/run/app.sock', '/base'],
    ['http://unix:/run/app.sock:/base/', '/run/app.sock', '/base'],
    ['http://unix:/run/app.sock:/', '/run/app.sock', ''],
    ['http://unix:/run/a b%20c.sock', '/run/a b%20c.sock', ''],
  ])('%s is read into its parts', (text, socketPath, basePath) => {
    const where = { protocol: 'http:', hostname: 'localhost', port: 80, authority: 'localhost' }
    expect(parseTarget(text)).toEqual({ ...where, basePath, socketPath })
  })

  it('is written as it was', () => {
    for (const text of [
      'http://unix:/run/app.sock',
      'http://unix:/run/app.sock:/base',
      'https://example.com:8443/v1',
    ]) {
      const target = parseTarget(text)
      expect('error' in target || targetText(target)).toBe(text)
    }
  })

  it('loads', () => {
    const target = snapshotOf(doc('http://unix:/run/app.sock:/v1')).upstreams.get('payments')?.target
    expect(target).toMatchObject({ socketPath: '/run/app.sock', basePath: '/v1' })
  })

  it.each([
    ['http://unix:run/app.sock', 'names no socket file: write http://unix:/run/app.sock'],
    ['http://unix:/', 'names no socket file'],
    ['http://unix:/run/', 'names no socket file'],
    ['http://unix:/run/app.sock:base', 'a base path after a second colon'],
    ['http://unix:/run/app.sock?x', 'http:// or https://, a host'],
    ['http://unix:/run/app.sock:/a/../b', 'a base path with . or .. as a segment'],
    [`http://unix:/${'x'.repeat(107)}`, 'has a socket path of 108 bytes: the system takes 107'],
    ['https://unix:/run/app.sock', 'https over a unix socket needs spec.tls.serverName'],
  ])('%s is one message: %s', (target, text) => {
    const [message, ...more] = messagesOf(doc(target))
    expect(message).toContain(text)
    expect(more.filter(line => /a\.yaml:\d/.test(line))).toEqual([])
  })

  it('over TLS is fine with a name for the certificate', () => {
    const target = doc('https://unix:/run/app.sock', 'tls: { serverName: app.example.com }')
    expect(snapshotOf(target).upstreams.get('payments')?.target).toMatchObject({ protocol: 'https:', port: 443 })
  })

  it('of longest size is fine', () => {
    expect(messagesOf(doc(`http://unix:/${'x'.repeat(106)}`))).toEqual([])
  })
})
