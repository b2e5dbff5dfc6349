import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load.js'
import { readPolicyDirectory } from '../../src/policy/source.js'
import { upstream } from '../policy/set.js'

const whole = upstream('timeouts: { total: 5s }')

it.each<[string, string | null]>([
  ['missing', null],
  ['zero bytes', ''],
  ['only comments', '# nothing\n'],
  ['half written', whole.slice(0, whole.indexOf('5s'))],
  ['invalid by schema', upstream('timeouts: { total: 5 }')],
  ['a directory', '/'],
])('F084: a policy file that is %s never passes for a valid set', (_, text) => {
  const dir = mkdtempSync(join(tmpdir(), 'forbear-f084-'))
  try {
    const path = join(dir, 'policy.yaml')
    if (text === '/') mkdirSync(path)
    else if (text !== null) writeFileSync(path, text)
    const result = loadPolicies(readPolicyDirectory(dir), { mode: 'all', generation: 1 })
    expect(result).toMatchObject({ ok: false, messages: [expect.objectContaining({ severity: 'error' })] })
  } finally {
    rmSync(dir, { recursive: true })
  }
})
