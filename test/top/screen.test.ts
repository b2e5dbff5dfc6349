import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paintWith } from '../../src/top/paint.js'
import { plainBlock } from '../../src/top/plain.js'
import { rowsOf } from '../../src/top/rows.js'
import { screenLines } from '../../src/top/screen.js'
import { cut, fit, printable, widthOf, wrapped } from '../../src/top/text-width.js'
import { afterKey, FIRST_STATE, type Key, type ViewState, visibleRows } from '../../src/top/view-state.js'
import type { Scene } from '../../src/top/watch.js'
import { lookAt, statusOf } from './looks.js'

const text = fc.string({
  unit: fc.constantFrom('a', 'b ', 'é', '支払', '👩‍👩‍👧', '\u0301', '\u001b[31m', '\n', '\u202e', '🇩🇪'),
})

describe('the width of a text', () => {
  it.each([
    ['plain', 5],
    ['支払い', 6],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['ｈ', 2],
    ['가', 2],
    ['', 0],
  ])('of %s is %i', (shown, cells) => expect(widthOf(shown)).toBe(cells))

  it('is kept by cutting, fitting and wrapping, whatever stands there', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (any, cells) => {
        const shown = printable(any)
        expect(widthOf(cut(shown, cells))).toBeLessThanOrEqual(cells)
        expect(widthOf(fit(shown, cells))).toBe(cells)
        expect(wrapped(shown, cells).every(line => widthOf(line) <= cells)).toBe(true)
      }),
    )
  })

  it('of what others wrote has no command for the terminal in it', () => {
    fc.assert(
      fc.property(text, any => {
        expect(printable(any)).not.toMatch(/[\p{Cc}\u202a-\u202e]/u)
      }),
    )
  })
})

const NAMES = ['ledger', 'payments-of-a-region-far-away', 'stock']
const STATUS = statusOf(Object.fromEntries(NAMES.map(name => [name, {}])), {
  lastReloadError: { at: '2024-05-06T07:08:09.000Z', messages: ['支払.yaml:3:1 \u001b[2J is no field', 'more'] },
})
const SCENE: Scene = {
  atMs: 0,
  address: '127.0.0.1:15081',
  status: STATUS,
  rows: rowsOf(null, lookAt(1, STATUS, []), new Map()),
  unmatchedPerSec: 0,
  gone: null,
  restarted: false,
  isFirst: true,
}
const plain = paintWith(false)

describe('the screen', () => {
  it('is never wider or higher than the terminal, for any size and any keys', () => {
    const keys = fc.array(fc.constantFrom('j', 'k', 's', 'p', '/', 'l', 'x', 'return', 'escape', 'space', 'backspace'))
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 200 }), fc.integer({ min: 1, max: 50 }), keys, (columns, rows, names) => {
        const state = names.reduce(
          (before, name) => afterKey(before, { name, sequence: name }, SCENE.rows),
          FIRST_STATE,
        )
        const lines = screenLines({ scene: SCENE, state, size: { columns, rows }, policy: { a: NAMES } }, text => text)
        expect(lines.length).toBeLessThanOrEqual(rows)
        const wide = lines.filter(line => widthOf(line) > Math.max(columns, 9))
        expect(wide).toEqual([])
      }),
    )
  })

  it.each([
    [40, 'UPSTREAM +BREAKER +RPS +OK *$'],
    [80, 'UPSTREAM +BREAKER +RPS +OK +RETRY/BUDGET +LAST REASON *$'],
    [140, 'UPSTREAM .* AMPL +P50 +P95 +P99 +GATE .*IN-FLIGHT .*LAST REASON *$'],
  ])('at %i columns has room for %s', (columns, head) => {
    const lines = screenLines(
      { scene: SCENE, state: FIRST_STATE, size: { columns, rows: 24 }, policy: undefined },
      plain,
    )
    expect(stripVTControlCharacters(lines.join('\n'))).toMatch(new RegExp(head, 'm'))
  })

  it('tells of refused policies without obeying what stands in them', () => {
    const lines = screenLines(
      { scene: SCENE, state: FIRST_STATE, size: { columns: 120, rows: 24 }, policy: undefined },
      plain,
    )
    expect(lines.join('\n')).toContain('generation 3 stays: 支払.yaml:3:1 ·[2J is no field and 1 more')
    expect(plainBlock(SCENE)).not.toContain('\u001b')
  })
})

describe('the keys', () => {
  const press = (...names: readonly string[]): ViewState =>
    names.reduce((state, name) => afterKey(state, named(name), SCENE.rows), FIRST_STATE)
  const named = (name: string): Key => ({ name, sequence: name })

  it('move the mark within the list', () => {
    expect(press('down', 'j').selected).toBe('stock')
    expect(press('j', 'j', 'j', 'j').selected).toBe('stock')
    expect(press('j', 'up', 'up').selected).toBe('ledger')
  })

  it('filter while a name is typed, also by letters that are keys elsewhere', () => {
    const state = press('/', 's', 't', 'x', 'backspace', 'return')
    expect(state).toMatchObject({ filter: 'st', typing: false, quit: false })
    expect(visibleRows(state, SCENE.rows).map(({ upstream }) => upstream)).toEqual(['stock'])
    expect(press('/', 's', 'escape')).toMatchObject({ filter: '', typing: false })
  })

  it('open and close an upstream, and end by q or Ctrl-C wherever they are', () => {
    expect(press('j', 'return').open).toBe('payments-of-a-region-far-away')
    expect(press('j', 'return', 'escape')).toMatchObject({ open: null, selected: 'payments-of-a-region-far-away' })
    expect(press('return', 'q').quit).toBe(true)
    expect(afterKey(press('/'), { name: 'c', ctrl: true }, SCENE.rows).quit).toBe(true)
    expect(press('/', 'q').quit).toBe(false)
  })
})
