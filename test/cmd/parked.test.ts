import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { EXIT } from '../../cmd/exit-codes.js'
import { registerParked } from '../../cmd/parked.js'
import { BODY, PARKED_ID, parkedRecord, type StoreDir, storeDir } from '../support/parked.js'

let told = ''
let complained = ''
let place: StoreDir

beforeEach(async () => {
  told = ''
  complained = ''
  vi.spyOn(process.stdout, 'write').mockImplementation(text => ((told += text), true))
  vi.spyOn(process.stderr, 'write').mockImplementation(text => ((complained += text), true))
  place = await storeDir()
  const store = await place.open()
  await store.add(parkedRecord(), BODY)
  await store.close()
})

afterEach(async () => {
  vi.restoreAllMocks()
  process.exitCode = undefined
  await place.remove()
})

/** Resolves with the exit code. */
async function parked(...args: readonly string[]): Promise<unknown> {
  const program = new Command().exitOverride()
  registerParked(program)
  await program.parseAsync(['parked', ...args, '--store', place.dir], { from: 'user' })
  return process.exitCode
}

describe('forbear parked on a store whose sidecar is down', () => {
  test('lists what is there, without the query', async () => {
    expect(await parked('list')).toBe(EXIT.ok)
    expect(told).toMatch(/^ID +STATE +UPSTREAM +CALL +REDELIVERIES +LAST +DUE\n/)
    expect(told).toMatch(new RegExp(`^${PARKED_ID} +waiting +shop +POST /orders/<b> +3 +status 503 +2`, 'm'))
    expect(told).not.toContain('t0ken')
  })

  test('shows one entry with the names of its headers', async () => {
    expect(await parked('show', PARKED_ID)).toBe(EXIT.ok)
    expect(JSON.parse(told)).toMatchObject({
      id: PARKED_ID,
      headers: ['Idempotency-Key', 'Authorization'],
      bodyBytes: 5,
    })
  })

  test('exports the body, and secrets as they are stored', async () => {
    expect(await parked('export')).toBe(EXIT.ok)
    const entry = JSON.parse(told)
    expect(Buffer.from(entry.body, 'base64')).toEqual(Buffer.from(BODY))
    expect(entry.headers[1]).toEqual(['Authorization', 'sealed-text', 'sealed'])
  })

  test('makes an entry due, and drops it', async () => {
    expect(await parked('retry', PARKED_ID)).toBe(EXIT.ok)
    const store = await place.open()
    expect((await store.get(PARKED_ID))?.record.dueAtMs).toBeLessThanOrEqual(Date.now())
    await store.close()
    expect(await parked('drop', PARKED_ID)).toBe(EXIT.ok)
    await parked('list')
    expect(told).toBe('nothing is parked\n')
  })

  test.each(['show', 'retry', 'drop'])('%s of an entry that there is not says so', async verb => {
    expect(await parked(verb, 'nobody')).toBe(EXIT.problems)
    expect(complained).toBe('forbear: no parked call is called nobody\n')
  })

  test('leaves a store alone that a sidecar has open', async () => {
    const store = await place.open()
    expect(await parked('list')).toBe(EXIT.problems)
    expect(complained).toContain('in use by another process')
    await store.close()
  })

  test('without a sidecar on the admin port says what to do', async () => {
    const program = new Command().exitOverride()
    registerParked(program)
    await program.parseAsync(['parked', 'list', '--admin', '127.0.0.1:1'], { from: 'user' })
    expect(process.exitCode).toBe(EXIT.problems)
    expect(complained).toMatch(/no sidecar answers on 127\.0\.0\.1:1 .*--store/)
  })
})
