/** A scene as text for pipes and files: no escape codes, one block an interval. Pure. */
import { columnsFor } from './columns.js'
import type { Row } from './rows.js'
import { fit, printable } from './text-width.js'
import { reloadTrouble, verdict } from './verdict.js'
import type { Scene } from './watch.js'

/** Ends with an empty line, so that a reader knows where a block ends. */
export function plainBlock(scene: Scene): string {
  const { status, gone, rows } = scene
  const time = new Date(scene.atMs).toISOString()
  if (gone !== null) return `${time}  ${printable(gone)}\n\n`
  if (status === null) return ''
  const trouble = reloadTrouble(status)
  const restarted = scene.restarted ? 'the sidecar has restarted; ' : ''
  const words = verdict(rows, status, scene.unmatchedPerSec)
  return `${[
    `${time}  generation ${status.generation}  ${restarted}${printable(words)}`,
    ...(trouble === null ? [] : [printable(trouble)]),
    ...table(rows),
  ].join('\n')}\n\n`
}

/** As one line of JSON. */
export function jsonBlock(scene: Scene): string {
  const { status, gone, rows, atMs, address, restarted } = scene
  const at = new Date(atMs).toISOString()
  if (gone !== null || status === null) return `${JSON.stringify({ at, address, error: gone })}\n`
  const { generation, hash, lastReloadError } = status
  return `${JSON.stringify({
    ...{ at, address, error: null, restarted, generation, hash, lastReloadError },
    verdict: verdict(rows, status, scene.unmatchedPerSec),
    upstreams: rows.map(row => ({ ...jsonRow(row), routes: row.routes.map(jsonRow) })),
  })}\n`
}

/** JSON with fewer signs, one field a line. */
export function policyLines(policy: unknown): string[] {
  return JSON.stringify(policy, null, 2).replaceAll('"', '').split('\n').map(printableLine)
}

function table(rows: readonly Row[]): string[] {
  const columns = columnsFor(rows, null)
  return [
    columns.map(({ head, cells, align }) => fit(head, cells, align)).join(' '),
    ...rows.map(row => columns.map(({ text, cells, align }) => fit(text(row), cells, align)).join(' ')),
  ].map(line => line.trimEnd())
}

function jsonRow({ upstream, route, state, budgetSpent, routes: _, ...rates }: Row & { readonly routes?: unknown }) {
  const { breaker, budget, gate, pace, inFlight, inFlightLimit, waiting, latencyMs } = state
  return {
    ...(route === null ? { upstream } : { route }),
    ...rates,
    budgetSpent,
    ...{ breaker, budget, gate, pace, latencyMs, inFlight, inFlightLimit, waiting },
  }
}

/** Indents stay. */
function printableLine(line: string): string {
  const text = line.trimStart()
  return ' '.repeat(line.length - text.length) + printable(text)
}
