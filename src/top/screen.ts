/** A scene and what the keys made of it → the lines of a terminal, none wider or more than it has. Pure. */
import { type Column, columnsFor } from './columns.js'
import type { Paint, Style } from './paint.js'
import { policyLines } from './plain.js'
import type { Row } from './rows.js'
import { cut, fit, printable, wrapped } from './text-width.js'
import { reloadTrouble, type Tone, toneOf, verdict } from './verdict.js'
import { selectedIndex, type ViewState, visibleRows } from './view-state.js'
import type { Scene } from './watch.js'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Picture {
  readonly scene: Scene
  readonly state: ViewState
  readonly size: Size
  /** Of the opened upstream; `undefined` = not read yet. */
  readonly policy: unknown
}

interface Line {
  readonly text: string
  readonly style: Style
}

const MAX_HEAD_LINES = 3
const KEYS = 'q quit  s sort  j/k select  enter open  p pause  / filter'
const OPEN_KEYS = 'q quit  j/k scroll  esc back  p pause'

export function screenLines(picture: Picture, paint: Paint): string[] {
  const { columns, rows } = picture.size
  const head = headLines(picture).map(({ text, style }) => paint(cut(text, columns), style))
  const room = Math.max(0, rows - head.length - 1)
  const body = picture.state.open === null ? listLines(picture, room, paint) : openLines(picture, room, paint)
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => '')
  return [...head, ...body.slice(0, room), ...blank, paint(cut(footer(picture), columns), 'faint')].slice(-rows)
}

function headLines({ scene, state, size }: Picture): Line[] {
  const { status, gone, rows } = scene
  const time = new Date(scene.atMs).toISOString().slice(11, 19)
  const generation = status === null ? '' : `  generation ${status.generation}`
  const first = `forbear ${scene.address}${generation}  ${time}Z${state.paused ? '  paused' : ''}`
  const say = (text: string, style: Style): Line[] =>
    wrapped(printable(text), size.columns)
      .slice(0, MAX_HEAD_LINES)
      .map(line => ({ text: line, style }))
  if (gone !== null) return [{ text: first, style: 'head' }, ...say(`${gone}; trying again`, 'bad'), EMPTY]
  if (status === null) return [{ text: first, style: 'head' }, ...say('looking for the sidecar', 'faint'), EMPTY]
  const trouble = reloadTrouble(status)
  const restarted = scene.restarted ? 'the sidecar has restarted; ' : ''
  return [
    { text: first, style: 'head' },
    ...say(restarted + verdict(rows, status, scene.unmatchedPerSec), toneOf(rows, status)),
    ...(trouble === null ? [] : say(trouble, 'bad')),
    EMPTY,
  ]
}

const EMPTY: Line = { text: '', style: null }

function listLines({ scene, state, size }: Picture, room: number, paint: Paint): string[] {
  const shown = visibleRows(state, scene.rows)
  const columns = columnsFor(shown, size.columns - 1)
  const at = selectedIndex(state, shown)
  const places = Math.max(1, room - 1)
  const from = Math.max(0, Math.min(at - Math.floor(places / 2), shown.length - places))
  const rows = shown
    .slice(from, from + places)
    .map((row, index) => tableRow(row, columns, from + index === at ? '>' : ' ', paint))
  const none = state.filter === '' ? [] : [`no upstream has "${state.filter}" in its name`]
  return [tableHead(columns, size, paint), ...(shown.length === 0 ? none.map(text => cut(text, size.columns)) : rows)]
}

function openLines(picture: Picture, room: number, paint: Paint): string[] {
  const { scene, state, size, policy } = picture
  const row = scene.rows.find(({ upstream }) => upstream === state.open)
  if (row === undefined) return [cut(`${state.open} is no upstream any more`, size.columns)]
  const shown = [row, ...row.routes]
  const columns = columnsFor(shown, size.columns - 1)
  const table = [tableHead(columns, size, paint), ...shown.map(each => tableRow(each, columns, ' ', paint))]
  const text = policy === undefined ? ['reading the policy'] : policyLines(policy)
  const lines = [
    '',
    cut(`target ${printable(row.state.target)}`, size.columns),
    ...text.map(line => cut(line, size.columns)),
  ]
  const all = [...table, ...lines]
  const from = Math.min(state.scroll, Math.max(0, all.length - room))
  return all.slice(from, from + room)
}

function tableHead(columns: readonly Column[], size: Size, paint: Paint): string {
  const text = columns.map(({ head, cells, align }) => fit(head, cells, align)).join(' ')
  return paint(cut(` ${text}`, size.columns), 'head')
}

function tableRow(row: Row, columns: readonly Column[], mark: string, paint: Paint): string {
  const style = mark === '>' ? 'marked' : null
  const cells = columns.map(({ text, cells, align, tone }) => {
    const its: Tone | null = tone?.(row) ?? null
    return paint(fit(text(row), cells, align), its ?? style)
  })
  return paint(mark, style) + cells.join(paint(' ', style))
}

function footer({ state, scene }: Picture): string {
  if (state.typing) return `/${state.filter}_`
  const filter = state.filter === '' ? '' : `  filter: ${state.filter}`
  return `${state.open === null ? `${KEYS}  sorted by ${state.sort}${filter}` : OPEN_KEYS}${scene.isFirst ? '  first look' : ''}`
}
