/** Keeps the page up to date: a frame a second, in which the server says everything in words. */
import { showCards } from './cards.mjs'
import { byId, clockTime, eventRows, setAttribute, setItems, setText } from './dom.mjs'
import { wireForms } from './forms.mjs'

/** Nothing heard for so long: what is shown is old. */
const STALE_MS = 5000
const RECONNECT_MS = 5000

let source = null
let heardAt = 0
/** Level and name of everything sick, as last told to a screen reader. */
let told = null
let eventsShown = ''
let parkedShown = null

function connect() {
  source = new EventSource('/events')
  source.onmessage = ({ data }) => {
    heard()
    show(JSON.parse(data))
  }
  source.addEventListener('beat', heard)
  // A browser comes back by itself after a broken connection, but not after a refusal.
  source.onerror = () => {
    live('off', 'not live, trying again …')
    if (source.readyState === EventSource.CLOSED) setTimeout(reconnect, RECONNECT_MS)
  }
}

function reconnect() {
  source?.close()
  if (!document.hidden) connect()
}

function heard() {
  heardAt = Date.now()
  live('on', 'live')
}

function live(state, text) {
  setAttribute(byId('live'), 'data-live', state)
  setText(byId('live'), text)
}

function show(frame) {
  showVerdict(frame)
  showPolicy(frame)
  showCards(frame)
  showEvents(frame.events)
  showSwitches(frame)
  void showParked(frame.parked)
}

function showVerdict({ verdict, upstreams }) {
  setText(byId('headline'), verdict.headline)
  setAttribute(document.body, 'data-level', verdict.level)
  const title = `${verdict.headline} · forbear`
  if (document.title !== title) document.title = title
  setItems(byId('reasons'), verdict.reasons)
  announce(verdict, upstreams)
}

/** States alone: a countdown that is read aloud every second would be of use to nobody. */
function announce({ headline }, upstreams) {
  const states = upstreams.filter(({ level }) => level === 'bad' || level === 'warn')
  const text = [headline, ...states.slice(0, 5).map(({ name, badge }) => `${name}: ${badge}`)].join('. ')
  if (told !== null && told !== text) setText(byId('announcer'), text)
  told = text
}

function showPolicy({ policy, retries, draining }) {
  setText(byId('generation'), String(policy.generation))
  setText(byId('hash'), policy.hash.slice(0, 12))
  showTime(byId('loaded'), policy.loadedAt)
  setText(byId('retries'), retries)
  setText(byId('readiness'), draining ? 'red, draining' : 'green')
  byId('reload').hidden = policy.error === null
  if (policy.error === null) return
  showTime(byId('reload-at'), policy.error.at)
  setItems(byId('messages'), policy.error.messages, text =>
    Object.assign(document.createElement('code'), { textContent: text }),
  )
}

function showTime(node, iso) {
  setAttribute(node, 'datetime', iso)
  const day = new Date(iso).toLocaleDateString()
  setText(node, day === new Date().toLocaleDateString() ? clockTime(iso) : `${day} ${clockTime(iso)}`)
}

function showEvents(events) {
  const text = JSON.stringify(events)
  if (text === eventsShown) return
  eventsShown = text
  eventRows(byId('events'), events, true)
  byId('no-events').hidden = events.length > 0
}

function showSwitches({ retries, draining }) {
  byId('retries-off').hidden = retries === 'off'
  byId('retries-on').hidden = retries === 'on'
  byId('drain').hidden = draining
}

/** The list is fetched only when its counts have moved and nobody has the focus in it. */
async function showParked(parked) {
  const text = JSON.stringify(parked)
  const section = byId('parked')
  if (text === parkedShown || section?.contains(document.activeElement)) return
  const first = parkedShown === null
  parkedShown = text
  if (first && section !== null) return
  const answer = await fetch('/dashboard/parked')
  const made = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('parked')
  section?.remove()
  if (made !== null) byId('switches-title').parentElement.before(made)
}

document.documentElement.classList.add('js')
wireForms()
connect()
setInterval(() => {
  if (Date.now() - heardAt > STALE_MS) live('off', 'not live, figures are old')
}, 1000)
// A page that nobody sees needs no place among those that watch.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) source.close()
  else reconnect()
})
