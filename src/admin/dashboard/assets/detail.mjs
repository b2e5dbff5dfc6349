/** What is shown of an upstream that somebody looks into: plots, events, routes and the policy. */
import { element, eventRows, setText, table } from './dom.mjs'

/** The plot library is the largest part of the page: it comes when the first plot is wanted. */
const plots = () => import('./charts.mjs')

/** By list item: what is shown. */
const open = new Map()

export function openDetail(name, item) {
  open.set(item, { name, seen: '', parts: null })
  void load(item)
}

export function closeDetail(item) {
  open.delete(item)
  void plots().then(({ dropCharts }) => dropCharts(item))
}

/** Asks again when a step of the history is over, or something happened. */
export function refreshDetail(item, { happenings }, step) {
  const shown = open.get(item)
  if (shown === undefined) return
  const seen = `${step} ${happenings}`
  if (shown.seen === seen) return
  shown.seen = seen
  void load(item)
}

async function load(item) {
  const shown = open.get(item)
  // While the sidecar is away what was drawn stays; the first line of the page tells.
  const answer = await fetch(`/upstreams/${shown.name}/detail`).catch(() => null)
  if (!answer?.ok || open.get(item) !== shown) return
  const detail = await answer.json()
  shown.parts ??= frame(item, shown.name)
  const { events, noEvents, routes, charts } = shown.parts
  eventRows(events.querySelector('tbody'), detail.events, false)
  events.hidden = detail.events.length === 0
  noEvents.hidden = detail.events.length > 0
  showRoutes(routes, detail)
  const { drawCharts } = await plots()
  if (open.get(item) === shown) drawCharts(item, charts, detail)
}

function frame(item, name) {
  const body = element('tbody')
  const head = ['When', 'What'].map(text => element('th', { scope: 'col' }, text))
  const caption = element('caption', { class: 'visually-hidden' }, `Events of ${name}, the newest first`)
  const events = element('table', { class: 'events' }, caption, element('thead', {}, element('tr', {}, ...head)), body)
  const noEvents = element('p', { class: 'muted' }, 'Nothing yet.')
  const routes = element('div')
  const charts = element('div', { class: 'charts' })
  const policy = policyOf(name)
  item
    .querySelector('.detail')
    .replaceChildren(
      element('h4', {}, 'The last 15 minutes'),
      charts,
      element('h4', {}, 'Events'),
      events,
      noEvents,
      routes,
      policy,
    )
  return { events, noEvents, routes, charts }
}

function showRoutes(place, { name, routes }) {
  if (routes.length === 0) return place.replaceChildren()
  if (place.contains(document.activeElement)) return
  place.replaceChildren(element('h4', {}, 'Routes with instances of their own'), table(`Routes of ${name}`, routes))
}

/** Fetched when it is opened: every field with its value. */
function policyOf(name) {
  const place = element('div', {}, element('p', { class: 'muted' }, '…'))
  const details = element('details', { class: 'policy-in-force' }, element('summary', {}, 'Effective policy'), place)
  details.addEventListener('toggle', async () => {
    if (!details.open) return
    const answer = await fetch(`/upstreams/${name}/policy`)
    if (!answer.ok) return setText(place, 'There is none any more.')
    const fields = [...fieldsOf(await answer.json(), '')]
    place.replaceChildren(table(`Effective policy of ${name}`, [['Field', 'Value'], ...fields]))
  })
  return details
}

function* fieldsOf(value, path) {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const plain = Array.isArray(value) && value.every(each => typeof each !== 'object')
  if (inner.length === 0 || plain) yield [path, plain ? value.join(', ') || 'none' : textOf(value)]
  else for (const [key, each] of inner) yield* fieldsOf(each, path === '' ? key : `${path}.${key}`)
}

function textOf(value) {
  if (value === null || typeof value === 'object') return 'none'
  return String(value)
}
