import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEMO_UPSTREAM } from '../../src/demo/guide.js'
import { loadPolicies } from '../../src/policy/load.js'
import { formatMessage } from '../../src/policy/messages.js'
import { readPolicyDirectory } from '../../src/policy/source.js'

const DIR = 'policies'
const FILES = readdirSync(DIR).filter(name => name.endsWith('.yaml'))

const load = () => loadPolicies(readPolicyDirectory(DIR), { mode: 'all', generation: 1 })

test('the shipped policies load without a warning', () => {
  expect(load().messages.map(formatMessage)).toEqual([])
})

test('they hold the upstream of the demo under its own port, with a route that adds keys', () => {
  const result = load()
  const upstream = result.ok ? result.snapshot.upstreams.get(DEMO_UPSTREAM) : undefined
  expect(upstream?.listen).toBe('127.0.0.1:15101')
  expect(upstream?.target.authority).toBe('127.0.0.1:15090')
  expect(upstream?.match.pathPrefix).toBe(`/${DEMO_UPSTREAM}`)
  const minting = upstream?.routes.filter(route => route.policy.retry.idempotency.generate)
  expect(minting?.map(route => route.name)).toEqual(['pay'])
})

test.for(FILES)('%s names its schema and says why on every line with a value', name => {
  const [first = '', ...lines] = readFileSync(join(DIR, name), 'utf8').trimEnd().split('\n')
  expect(first).toMatch(/^# yaml-language-server: \$schema=\.\.\/schemas\/forbear\.schema\.json$/)
  expect(lines.filter(line => !line.endsWith(':') && !/ # ./.test(line))).toEqual([])
})
