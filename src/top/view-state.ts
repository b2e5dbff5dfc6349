/** What the keys have made of the live view. Pure. */
import type { Row, UpstreamRow } from './rows.js'
import { troubleOf } from './verdict.js'

export const SORTS = ['name', 'trouble', 'rps', 'ok', 'retries', 'p95'] as const
export type Sort = (typeof SORTS)[number]

export interface ViewState {
  readonly sort: Sort
  /** Name of the upstream on which the mark stands; `null` = the first. */
  readonly selected: string | null
  /** Whose routes and policy are shown. */
  readonly open: string | null
  /** First line of the opened one that is shown. */
  readonly scroll: number
  readonly paused: boolean
  readonly filter: string
  /** The filter is being typed. */
  readonly typing: boolean
  readonly quit: boolean
}

/** As `node:readline` names them. */
export interface Key {
  readonly name?: string | undefined
  readonly ctrl?: boolean | undefined
  readonly sequence?: string | undefined
}

export const FIRST_STATE: ViewState = {
  sort: 'name',
  selected: null,
  open: null,
  scroll: 0,
  paused: false,
  filter: '',
  typing: false,
  quit: false,
}

/** @param rows all of them, in any order */
export function afterKey(state: ViewState, key: Key, rows: readonly UpstreamRow[]): ViewState {
  if (key.ctrl && key.name === 'c') return { ...state, quit: true }
  if (state.typing) return afterTyped(state, key)
  switch (key.name ?? key.sequence) {
    case 'q':
      return { ...state, quit: true }
    case 'p':
      return { ...state, paused: !state.paused }
    case 'escape':
    case 'left':
    case 'h':
    case 'backspace':
      return state.open === null ? { ...state, filter: '' } : { ...state, open: null, scroll: 0 }
  }
  return state.open === null ? afterListKey(state, key, rows) : afterOpenKey(state, key)
}

/** Those that the filter lets through, sorted. */
export function visibleRows(state: ViewState, rows: readonly UpstreamRow[]): UpstreamRow[] {
  const wanted = state.filter.toLowerCase()
  return rows.filter(({ upstream }) => upstream.toLowerCase().includes(wanted)).sort(BY[state.sort])
}

/** Where the mark stands. */
export function selectedIndex(state: ViewState, shown: readonly UpstreamRow[]): number {
  return Math.max(
    0,
    shown.findIndex(({ upstream }) => upstream === state.selected),
  )
}

function afterTyped(state: ViewState, { name, sequence = '' }: Key): ViewState {
  if (name === 'return' || name === 'enter') return { ...state, typing: false }
  if (name === 'escape') return { ...state, typing: false, filter: '' }
  if (name === 'backspace') return { ...state, filter: state.filter.slice(0, -1) }
  return /^[\w.-]$/.test(sequence) ? { ...state, filter: state.filter + sequence } : state
}

function afterListKey(state: ViewState, key: Key, rows: readonly UpstreamRow[]): ViewState {
  const shown = visibleRows(state, rows)
  const at = selectedIndex(state, shown)
  const select = (index: number): ViewState => {
    const row = shown[Math.min(shown.length - 1, Math.max(0, index))]
    return { ...state, selected: row?.upstream ?? null }
  }
  switch (key.name ?? key.sequence) {
    case 's':
      return { ...state, sort: SORTS[(SORTS.indexOf(state.sort) + 1) % SORTS.length] ?? 'name' }
    case 'down':
    case 'j':
      return select(at + 1)
    case 'up':
    case 'k':
      return select(at - 1)
    case 'return':
    case 'enter':
    case 'right':
    case 'l':
      return { ...state, open: shown[at]?.upstream ?? null, selected: shown[at]?.upstream ?? null, scroll: 0 }
    case '/':
      return { ...state, typing: true, filter: '' }
  }
  return state
}

function afterOpenKey(state: ViewState, key: Key): ViewState {
  const by = SCROLL[key.name ?? ''] ?? 0
  return { ...state, scroll: Math.max(0, state.scroll + by) }
}

const SCROLL: Readonly<Record<string, number>> = { down: 1, j: 1, up: -1, k: -1, pagedown: 10, pageup: -10, space: 10 }

const byName = (a: Row, b: Row): number => (a.upstream < b.upstream ? -1 : Number(a.upstream > b.upstream))
/** Unknown ones last. */
const most = (of: (row: Row) => number | null) => (a: Row, b: Row) => (of(b) ?? -1) - (of(a) ?? -1) || byName(a, b)
const BADNESS = { bad: 2, warn: 1 } as const

const BY: Readonly<Record<Sort, (a: Row, b: Row) => number>> = {
  name: byName,
  trouble: most(row => BADNESS[troubleOf(row)?.tone ?? 'warn'] * Number(troubleOf(row) !== null)),
  rps: most(row => row.requestsPerSec),
  ok: most(row => (row.success === null ? null : 1 - row.success)),
  retries: most(row => row.retryShare),
  p95: most(row => row.state.latencyMs.p95),
}
