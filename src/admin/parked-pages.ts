/** `/parked`: what is parked, and what may be done about it. */
import type { ParkedCalls, ParkedView } from '../park/views.js'
import { type Answer, json, methodNotAllowed, problem } from './answer.js'
import { type Html, html, NOTHING } from './dashboard/html.js'
import type { AdminRequest } from './http-server.js'
import { isForeignOrigin } from './same-host.js'

const ENTRY = /^\/parked\/([0-9a-z-]{1,64})(?:\/(retry|drop))?$/
/** Rows on the dashboard. */
const MAX_ROWS = 50
const NO_PARKING = 'no policy parks calls'

/** `null` when the path is none of these. `calls` gives `null` while nothing parks. */
export function parkedAnswerTo(
  request: AdminRequest,
  calls: () => ParkedCalls | null,
): Answer | Promise<Answer> | null {
  const { path, method } = request
  const entry = ENTRY.exec(path)
  if (path !== '/parked' && entry === null) return null
  const parked = calls()
  const [, id = '', verb] = entry ?? []
  const reads = verb === undefined
  if (reads && method !== 'GET' && method !== 'HEAD') return methodNotAllowed('GET, HEAD')
  if (!reads && method !== 'POST') return methodNotAllowed('POST')
  if (!reads && isForeignOrigin(request)) return problem(403, 'a page of another origin may not do this')
  if (parked === null) return path === '/parked' ? json({ entries: [] }) : problem(404, NO_PARKING)
  if (path === '/parked') return list(parked)
  if (id === 'export') return exported(parked)
  return verb === undefined ? show(parked, id) : act(parked, id, verb as 'retry' | 'drop')
}

async function list(parked: ParkedCalls): Promise<Answer> {
  return json({ entries: await parked.list() })
}

async function exported(parked: ParkedCalls): Promise<Answer> {
  return { status: 200, contentType: 'application/x-ndjson', body: await parked.exported() }
}

async function show(parked: ParkedCalls, id: string): Promise<Answer> {
  const entry = await parked.show(id)
  return entry === null ? noEntry(id) : json(entry)
}

async function act(parked: ParkedCalls, id: string, verb: 'retry' | 'drop'): Promise<Answer> {
  if (await parked[verb](id)) return json({ id, [verb]: true })
  const entry = await parked.show(id)
  if (entry === null) return noEntry(id)
  return problem(409, verb === 'drop' ? 'it is being delivered now' : `it is ${entry.state}, or being delivered now`)
}

function noEntry(id: string): Answer {
  return problem(404, `no parked call is called ${id}; what has ended is told of for a while only`)
}

/** A section of the dashboard; nothing while no policy parks. */
export async function parkedSection(parked: ParkedCalls | null): Promise<Html> {
  if (parked === null) return NOTHING
  const entries = await parked.list()
  const open = entries.filter(({ state }) => state === 'waiting' || state === 'dead')
  const counted = (state: ParkedView['state']): string =>
    `${entries.filter(entry => entry.state === state).length} ${state}`
  const counts = (['waiting', 'dead', 'delivered', 'cancelled'] as const).map(counted).join(', ')
  const more = open.length - MAX_ROWS
  return html`<section id="parked" aria-labelledby="parked-title">
<h2 id="parked-title">Parked calls</h2>
<p>${counts} · <a href="/parked">/parked</a> · <a href="/parked/export">/parked/export</a></p>
<div class="scroll" role="region" aria-labelledby="parked-title" tabindex="0">
<table><thead><tr>${HEAD.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${open.slice(0, MAX_ROWS).map(rowOf)}</tbody></table>
</div>
${more > 0 ? html`<p>and ${more} more</p>` : NOTHING}
</section>`
}

const HEAD = ['id', 'state', 'upstream', 'call', 'redeliveries', 'last', 'due', '']

function rowOf({ id, state, upstream, method, path, attempts, last, dueAt }: ParkedView): Html {
  const cells = [state, upstream, `${method} ${path}`, String(attempts), last ?? '', dueAt ?? '']
  return html`<tr><th scope="row"><a href="/parked/${id}">${id}</a></th>${cells.map(cell => html`<td>${cell}</td>`)}<td class="actions">${verb(id, 'retry')}${verb(id, 'drop')}</td></tr>`
}

function verb(id: string, word: 'retry' | 'drop'): Html {
  const label = html`${word}<span class="visually-hidden"> ${id}</span>`
  return html`<form method="post" action="/parked/${id}/${word}"><button>${label}</button></form>`
}
