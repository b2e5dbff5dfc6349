import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { EXIT } from '../../cmd/exit-codes.js'
import { registerExplain } from '../../cmd/explain.js'
import { temporaryDirectory } from '../policy/support/config-map.js'

let told = ''
let complained = ''

beforeEach(() => {
  told = ''
  complained = ''
  vi.spyOn(process.stdout, 'write').mockImplementation(text => ((told += text), true))
  vi.spyOn(process.stderr, 'write').mockImplementation(text => ((complained += text), true))
})

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

/** Resolves with the exit code. */
async function explain(...args: readonly string[]): Promise<unknown> {
  return bare('--policies', 'policies', ...args)
}

async function bare(...args: readonly string[]): Promise<unknown> {
  const program = new Command().exitOverride()
  registerExplain(program)
  for (const command of program.commands) command.exitOverride()
  await program.parseAsync(['explain', ...args], { from: 'user' })
  return process.exitCode
}

describe('of the shipped policies', () => {
  test('a path on the shared port finds its upstream and route, with the lines that say so', async () => {
    expect(await explain('get', '/flaky/orders/1?full=1')).toBe(EXIT.ok)
    expect(told).toContain('GET /flaky/orders/1?full=1\n')
    expect(told).toContain('by the path prefix /flaky on the shared port; it sees /orders/1?full=1')
    expect(told).toContain('read-order, the first that matches: GET, path /orders/{…}')
    expect(told).toMatch(/^timeouts\.attempt +1500ms +policies\/flaky\.yaml:\d+/m)
    expect(told).toMatch(/^timeouts\.connect +1s +policies\/default\.yaml:\d+/m)
    expect(told).toMatch(/^breaker\.consecutiveFailures +5 +policies\/flaky\.yaml:\d+/m)
    expect(told).toMatch(/^breaker\.failureRatio +0\.8 +built-in$/m)
  })

  test('an address on its own port does so too', async () => {
    expect(await explain('POST', 'http://localhost:15101/payments')).toBe(EXIT.ok)
    expect(told).toContain('by its own port 127.0.0.1:15101; it sees /payments')
    expect(told).toContain('idempotency-key is added, the same on all attempts')
  })

  test('headers of the call count', async () => {
    expect(await explain('POST', '/orders', '-H', 'forbear-upstream: flaky', '-H', 'Idempotency-Key: k')).toBe(EXIT.ok)
    expect(told).toContain('by the forbear-upstream header; it sees /orders')
    expect(told).toContain('yes: the call carries idempotency-key')
  })

  test('tools get JSON', async () => {
    expect(await explain('GET', '/flaky/orders/1', '--output', 'json')).toBe(EXIT.ok)
    expect(JSON.parse(told)).toMatchObject({ upstream: 'flaky', route: 'read-order', via: 'prefix', worstCaseMs: 5000 })
  })

  test('a call that no upstream takes is told what nearly did', async () => {
    expect(await explain('GET', '/flakey/orders/1')).toBe(EXIT.problems)
    expect(complained).toBe(
      'no upstream takes GET /flakey/orders/1\n' + '  flaky: its path prefix is /flaky, the path begins with /flakey\n',
    )
  })

  test('tools get what nearly matched as JSON, too', async () => {
    expect(await explain('GET', '/flakey/orders/1', '--output', 'json')).toBe(EXIT.problems)
    expect(JSON.parse(told)).toMatchObject({ upstream: null, nearUpstreams: [{ upstream: 'flaky', missed: 'path' }] })
    told = ''
    expect(await explain('PUT', '/flaky/orders/1', '--output', 'json')).toBe(EXIT.ok)
    const at = expect.stringMatching(/^policies\/flaky\.yaml:\d+$/)
    expect(JSON.parse(told)).toMatchObject({
      route: null,
      otherRoutes: [{ name: 'read-order', missed: 'methods', at }],
    })
  })

  test.for([
    ['http://127.0.0.1:15080/flaky/orders/a%2Fb', 'prefix /flaky on the shared port; it sees /orders/a%2Fb'],
    ['http://127.0.0.1:15101/orders/1', 'own port 127.0.0.1:15101; it sees /orders/1'],
    [
      'http://127.0.0.1:15090/orders/1?x=/flaky',
      'address in the request line, as sent to a proxy (HTTP_PROXY); it sees /orders/1?x=/flaky',
    ],
    ['/flaky//orders/../1', 'prefix /flaky on the shared port; it sees //orders/../1'],
  ] as const)('%s is found', async ([url, words]) => {
    expect(await explain('GET', url)).toBe(EXIT.ok)
    expect(told).toContain(words)
  })

  test('what is no method is a matter of usage', async () => {
    expect(await explain('GE T', '/flaky')).toBe(EXIT.usage)
    expect(complained).toBe('forbear: GE T is not an HTTP method, such as GET\n')
  })

  test('what is no address is a matter of usage', async () => {
    expect(await explain('GET', 'flaky/orders')).toBe(EXIT.usage)
    expect(complained).toContain('flaky/orders is neither an http:// or https:// URL nor a path')
  })
})

test('policies that cannot be used are a matter of configuration, with every message', async () => {
  const dir = await temporaryDirectory()
  await writeFile(join(dir, 'shop.yaml'), 'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\n')
  expect(await explain('GET', '/shop', '--policies', dir)).toBe(EXIT.configuration)
  expect(complained).toContain('shop.yaml')
  expect(told).toBe('')
})

describe('of a field', () => {
  test('neither policies nor a call are needed', async () => {
    expect(await bare('--field', 'retry.maxAttempts')).toBe(EXIT.ok)
    expect(told).toContain('retry.maxAttempts\n\n  Attempts in all, the first included')
  })

  test('tools get JSON', async () => {
    expect(await bare('--field', '.', '--output', 'json')).toBe(EXIT.ok)
    expect(JSON.parse(told)).toMatchObject([{ path: 'spec', type: 'section', fields: expect.any(Array) }])
  })

  test('one that there is not is a matter of usage, with the nearest', async () => {
    expect(await bare('--field', 'retry.maxAtempts')).toBe(EXIT.usage)
    expect(complained).toBe('forbear: there is no field retry.maxAtempts; did you mean retry.maxAttempts?\n')
    expect(told).toBe('')
  })

  test.for([
    [['--field', 'retry', '--code', 'FB036'], "option '--field <path>' cannot be used with option '--code <code>'"],
    [['--field', 'retry', 'GET', '/x'], 'with --field no call is told: leave GET out'],
    [['--code', 'FB036', 'GET'], 'with --code no call is told: leave GET out'],
  ] as const)('one side of a contradiction is not ignored: %j', async ([args, text]) => {
    await expect(bare(...args)).rejects.toThrow(text)
    expect(told).toBe('')
  })
})

test.for([
  ['--policies', 'policies'],
  ['--policies', 'policies', 'GET'],
  ['GET', '/flaky'],
])('with neither a whole call nor a field the usage is told: %j', async args => {
  await expect(bare(...args)).rejects.toThrow('a method, a URL and --policies <dir> are needed, or --field <path>')
})
