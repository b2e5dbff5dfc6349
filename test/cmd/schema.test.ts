import Ajv2020 from 'ajv/dist/2020.js'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { EXIT } from '../../cmd/exit-codes.js'
import { registerSchema } from '../../cmd/schema.js'
import { read } from '../docs/samples.js'

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

async function schema(...args: readonly string[]): Promise<unknown> {
  const program = new Command().exitOverride()
  registerSchema(program)
  await program.parseAsync(['schema', ...args], { from: 'user' })
  return process.exitCode
}

/** Compiled from what was printed and nothing else. */
async function printed(kind: string) {
  told = ''
  expect(await schema(kind)).toBe(EXIT.ok)
  return new Ajv2020.default({ strict: false }).compile(JSON.parse(told))
}

const upstream = parse(read('policies/flaky.yaml'), { merge: true })
const policy = parse(read('policies/default.yaml'), { merge: true })

describe('the printed schema', () => {
  test.for([
    ['Upstream', true, false],
    ['POLICY', false, true],
    ['any', true, true],
  ] as const)('of %s is complete in itself and fits its kind', async ([kind, fitsUpstream, fitsPolicy]) => {
    const validate = await printed(kind)
    expect([validate(upstream), validate(policy)]).toEqual([fitsUpstream, fitsPolicy])
  })

  test('of any kind still tells right from wrong', async () => {
    const validate = await printed('any')
    expect(validate({ ...policy, spec: { target: 'http://a' } })).toBe(false)
    expect(validate({ ...upstream, spec: {} })).toBe(false)
    expect(validate({ ...upstream, kind: 'Gateway' })).toBe(false)
  })

  test('has no definition that it does not use', async () => {
    await printed('policy')
    const { $defs } = JSON.parse(told) as { $defs: object }
    expect(Object.keys($defs)).toContain('retry')
    expect(Object.keys($defs)).not.toContain('route')
  })
})

test('the kinds are listed when none is asked for', async () => {
  expect(await schema()).toBe(EXIT.ok)
  expect(told).toMatch(/^Upstream +A service that the app calls.*\nPolicy +Settings by name.*\nany +A document.*\n$/)
})

test('another kind is a matter of usage, with the nearest', async () => {
  expect(await schema('upsteam')).toBe(EXIT.usage)
  expect(complained).toBe('forbear: there is no kind upsteam: Upstream, Policy, any; did you mean Upstream?\n')
})
