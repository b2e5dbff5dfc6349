import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSizeBytes } from '../../src/policy/size.js'

describe('a size', () => {
  it.each([
    ['0B', 0],
    ['512B', 512],
    ['64KiB', 65_536],
    ['16MiB', 16_777_216],
    ['1GiB', 1_073_741_824],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes)
  })

  it.each(['', '64', 'KiB', '64KB', '64kib', '64K', '1.5MiB', '-1B', '1 MiB', '1MiB ', '1MiB512KiB', '1TiB', '1B\n'])(
    'refuses %j',
    text => {
      expect(parseSizeBytes(text)).toBeNull()
    },
  )

  it('refuses more bytes than a number can count', () => {
    expect(parseSizeBytes('999999999999999GiB')).toBeNull()
  })

  it('comes back as it was written', () => {
    fc.assert(
      fc.property(fc.nat(), bytes => {
        expect(parseSizeBytes(`${bytes}B`)).toBe(bytes)
        expect(parseSizeBytes(`${bytes}KiB`)).toBe(bytes * 1024)
      }),
    )
  })

  it('never reads garbage', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789KMGiB. -') }), text => {
        if (!/^\d+(B|[KMG]iB)$/.test(text)) expect(parseSizeBytes(text)).toBeNull()
      }),
    )
  })
})
