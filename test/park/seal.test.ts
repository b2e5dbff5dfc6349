import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSealKey, type SealKey, seal, sealHeaders, unseal, unsealHeaders } from '../../src/park/seal.js'

let dir = ''
let key: SealKey
let otherKey: SealKey

async function keyOf(text: string): Promise<SealKey> {
  const file = join(dir, 'key')
  await writeFile(file, text)
  return readSealKey(file)
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'forbear-seal-'))
  key = await keyOf('0123456789abcdef\n')
  otherKey = await keyOf('fedcba9876543210')
})
afterAll(() => rm(dir, { recursive: true }))

describe('a sealed header', () => {
  it('comes back with its key, in its entry and under its name only', () => {
    const sealed = seal(key, 'e1', 'Authorization', 'Bearer äbc')
    expect(sealed).not.toContain('Bearer')
    expect(unseal(key, 'e1', 'authorization', sealed)).toBe('Bearer äbc')
    expect(() => unseal(key, 'e2', 'Authorization', sealed)).toThrow()
    expect(() => unseal(key, 'e1', 'Cookie', sealed)).toThrow()
    expect(() => unseal(otherKey, 'e1', 'Authorization', sealed)).toThrow('another key')
  })

  it('does not come back when a byte was changed', () => {
    const sealed = seal(key, 'e1', 'Cookie', 'a=1')
    const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`
    expect(() => unseal(key, 'e1', 'Cookie', changed)).toThrow()
  })

  it('is different each time', () => {
    expect(seal(key, 'e1', 'Cookie', 'a=1')).not.toBe(seal(key, 'e1', 'Cookie', 'a=1'))
  })

  it('does not depend on white space behind the key', async () => {
    expect(unseal(await keyOf('0123456789abcdef'), 'e', 'Cookie', seal(key, 'e', 'Cookie', 'a=1'))).toBe('a=1')
  })

  it('needs a key of 16 bytes', async () => {
    await expect(keyOf('0123456789abcde\n\n')).rejects.toThrow('fewer than 16 bytes')
  })
})

describe('the headers of an entry', () => {
  const headers = ['Content-Type', 'a/b', 'AUTHORIZATION', 'Bearer x', 'forbear-attempt', '2', 'Expect', '100-continue']

  it('are stored without our own, secret ones encrypted, and come back in order', () => {
    const stored = sealHeaders(headers, ['authorization'], key, 'e1')
    expect(stored.map(([name]) => name)).toEqual(['Content-Type', 'AUTHORIZATION'])
    expect(JSON.stringify(stored)).not.toContain('Bearer')
    expect(unsealHeaders(stored, key, 'e1')).toEqual(['Content-Type', 'a/b', 'AUTHORIZATION', 'Bearer x'])
    expect(() => unsealHeaders(stored, null, 'e1')).toThrow('keyFile')
  })

  it('are stored without the secret ones when there is no key', () => {
    expect(sealHeaders(headers, ['authorization'], null, 'e1')).toEqual([['Content-Type', 'a/b']])
  })
})
