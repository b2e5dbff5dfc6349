import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCallAddress } from '../../src/policy/call-address.js'
import { parseTarget } from '../../src/policy/target.js'

const piece = fc.constantFrom(
  ...[
    'http://',
    'https://',
    'HTTP://',
    'a',
    'a.b',
    '127.0.0.1',
    '[::1]',
    '[',
    ']',
    ':',
    ':0',
    ':80',
    ':99999',
    '@',
    'u:p@',
  ],
  ...['/', '//', '/..', '/.', '?', '#', '%', '%2e', '\\', ' ', '\t', '\r\n', '\0', 'é', '\ud800', '*'],
)
const text = fc.oneof(
  fc.string(),
  fc.array(piece, { maxLength: 8 }).map(parts => parts.join('')),
)

describe('the address of a target', () => {
  it('has a host of its own, none that a parser finds in the path', () => {
    expect(parseTarget('http:///.:0')).toEqual({ error: 'is not an http or https URL' })
    expect(parseTarget('http:///a')).toEqual({ error: 'is not an http or https URL' })
  })

  it('is read or refused whatever the text, and nothing read can split a request line or a field', () => {
    fc.assert(
      fc.property(text, value => {
        const target = parseTarget(value)
        if ('error' in target) {
          expect(target.error).not.toBe('')
          return
        }
        expect(target.port).toBeGreaterThanOrEqual(1)
        expect(target.port).toBeLessThanOrEqual(65_535)
        expect(target.authority).toMatch(/^[^\s@/?#]+$/)
        expect(target.basePath).toMatch(/^(?:\/[!-"$->@-~]*)?$/)
        expect(target.basePath).toMatch(/^(?:\/.*[^/])?$/)
        expect(target.hostname).not.toBe('')
      }),
      { numRuns: 3000 },
    )
  })

  it('comes back as it was written', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
    const path = fc.array(fc.stringMatching(/^[\w%-]{1,6}$/), { maxLength: 3 })
    fc.assert(
      fc.property(
        fc.constantFrom('http', 'https'),
        label,
        fc.integer({ min: 1, max: 65_535 }),
        path,
        (scheme, host, port, segments) => {
          const basePath = segments.map(segment => `/${segment}`).join('')
          expect(parseTarget(`${scheme}://${host}.test:${port}${basePath}/`)).toMatchObject({
            ...{ protocol: `${scheme}:`, hostname: `${host}.test`, port, basePath },
          })
        },
      ),
    )
  })
})

describe('the address of a call', () => {
  it('is read or refused whatever the text, and what is read could stand in a request line', () => {
    fc.assert(
      fc.property(text, value => {
        const address = parseCallAddress(value)
        if (address === null) return
        expect(address.path).toMatch(/^\/[^#\s]*$/)
        if (address.authority !== null) expect(address.authority).toMatch(/^[^/?#@:\s][^/?#@\s]*:\d+$/)
      }),
      { numRuns: 3000 },
    )
  })
})
