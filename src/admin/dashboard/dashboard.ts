/** What the dashboard answers. Loaded when it is first asked for: most sidecars are never looked at. */
import type { ParkedCalls } from '../../park/views.js'
import { type Answer, json, problem, withoutPasswords } from '../answer.js'
import type { AdminRequest } from '../http-server.js'
import { parkedSection } from '../parked-pages.js'
import { isForeignOrigin } from '../same-host.js'
import { EventStream } from './event-stream.js'
import { ASSETS } from './generated/assets.js'
import type { Observer } from './observer.js'
import { page } from './page.js'
import { detailOf } from './upstream-detail.js'
import { frameOf } from './views.js'

export interface DashboardDeps {
  readonly observer: Observer
  /** `null` while no policy parks. */
  readonly parked: () => ParkedCalls | null
  /** The effective policy of one upstream, or `undefined`. */
  readonly policy: (upstream: string) => unknown
  readonly pages: readonly string[]
  readonly verbs: readonly string[]
}

/** Nothing but what this port itself serves, and no script in the page. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
const HTML_HEADERS = {
  'content-security-policy': CSP,
  // A stricter one would make the browser send `Origin: null` with the page's own forms.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}
const UPSTREAM_PATH = /^\/upstreams\/([^/]+)\/(detail|policy)$/

export class Dashboard {
  readonly #deps: DashboardDeps
  readonly #stream: EventStream

  constructor(deps: DashboardDeps) {
    this.#deps = deps
    this.#stream = new EventStream(deps.observer.clock, () => withoutPasswords(JSON.stringify(frameOf(deps.observer))))
  }

  answer(request: AdminRequest): Answer | Promise<Answer> {
    const { path } = request
    if (path === '/') return this.#page()
    if (path === '/events') return this.#events(request)
    if (path === '/dashboard/parked') return this.#parked()
    const [, upstream = '', what] = UPSTREAM_PATH.exec(path) ?? []
    if (what !== undefined) return this.#upstream(upstream, what)
    const name = path.replace('/dashboard/', '')
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (asset === undefined) return problem(404, 'no such page; / lists them')
    return {
      status: 200,
      contentType: asset.contentType,
      body: asset.text,
      headers: { 'content-security-policy': CSP },
    }
  }

  close(): void {
    this.#stream.close()
  }

  async #page(): Promise<Answer> {
    const { observer, parked, pages, verbs } = this.#deps
    const body = page({ frame: frameOf(observer), parked: await parkedSection(parked()), pages, verbs })
    return htmlAnswer(body)
  }

  async #parked(): Promise<Answer> {
    return htmlAnswer((await parkedSection(this.#deps.parked())).text)
  }

  /** Another site could not read this, but use up the places. */
  #events(request: AdminRequest): Answer {
    if (isForeignOrigin(request)) return problem(403, 'a page of another origin may not watch')
    if (this.#stream.isFull) return { ...problem(503, 'as many watch as may'), headers: { 'retry-after': '5' } }
    const headers = { 'content-security-policy': CSP }
    const answer = { status: 200, contentType: 'text/event-stream', body: '', headers }
    return request.method === 'HEAD' ? answer : { ...answer, stream: response => this.#stream.add(response) }
  }

  #upstream(name: string, what: string): Answer {
    const policy = this.#deps.policy(name)
    if (policy === undefined) return problem(404, `no upstream is named "${name}"`)
    return json(what === 'policy' ? policy : detailOf(this.#deps.observer, name))
  }
}

function htmlAnswer(body: string): Answer {
  return { status: 200, contentType: 'text/html; charset=utf-8', body: withoutPasswords(body), headers: HTML_HEADERS }
}
