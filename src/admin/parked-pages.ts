/** `/parked`: what is parked, and what may be done about it. */
import type { ParkedCalls, ParkedView } from '../park/views.js'
import { type Answer, json, methodNotAllowed, problem } from './answer.js'
import type { AdminRequest } from './http-server.js'
import { isForeignOrigin } from './same-host.js'

const ENTRY = /^\/parked\/([0-9a-z-]{1,64})(?:\/(retry|drop))?$/
/** Rows on the index page. */
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

/** A section of the index page. */
export async function parkedSection(parked: ParkedCalls | null): Promise<string> {
  if (parked === null) return ''
  const entries = await parked.list()
  const open = entries.filter(({ state }) => state === 'waiting' || state === 'dead')
  const counted = (state: ParkedView['state']): string =>
    `${entries.filter(entry => entry.state === state).length} ${state}`
  const counts = (['waiting', 'dead', 'delivered', 'cancelled'] as const).map(counted).join(', ')
  return `<h2>Parked calls</h2>
<p>${counts} · <a href="/parked">/parked</a> · <a href="/parked/export">/parked/export</a>
<table>
<tr><th>id<th>state<th>upstream<th>call<th>redeliveries<th>last<th>due
${open.slice(0, MAX_ROWS).map(rowOf).join('\n')}
</table>${open.length > MAX_ROWS ? `\n<p>and ${open.length - MAX_ROWS} more` : ''}
`
}

function rowOf({ id, state, upstream, method, path, attempts, last, dueAt }: ParkedView): string {
  const cells = [state, upstream, `${method} ${path}`, String(attempts), last ?? '', dueAt ?? '']
  return `<tr><td><a href="/parked/${id}">${id}</a>${cells.map(cell => `<td>${escaped(cell)}`).join('')}`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, char => `&#${char.charCodeAt(0)};`)
}
