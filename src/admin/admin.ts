/** The admin port: all of the health port, what is in force, and the verbs that change it. Loopback only. */
import { isLoopback, type ListenAddress } from '../core/listen-address.js'
import type { ParkedCalls } from '../park/views.js'
import type { MetricsSource } from '../telemetry/metrics.js'
import type { SidecarStatus } from '../telemetry/status.js'
import { type AdminActions, verbAt } from './actions.js'
import { type Answer, json, methodNotAllowed, problem } from './answer.js'
import type { Dashboard } from './dashboard/dashboard.js'
import type { Observer } from './dashboard/observer.js'
import { type HealthDeps, healthPages, type Page, readPage } from './health.js'
import { type AdminRequest, createHttpServer, type ManagedServer } from './http-server.js'
import { parkedAnswerTo } from './parked-pages.js'
import { isForeignHost, isForeignOrigin } from './same-host.js'
import { statusView } from './status-view.js'

export interface AdminDeps extends HealthDeps {
  readonly metrics: MetricsSource
  readonly status: () => SidecarStatus
  /** Effective policies; sets, maps and Infinity are fine. */
  readonly policies: () => unknown
  /** Of one upstream; `undefined` when there is none. */
  readonly policy: (upstream: string) => unknown
  readonly observer: Observer
  readonly actions: AdminActions
  /** `null` while no policy parks. */
  readonly parked: () => ParkedCalls | null
  /** `10m` → ms; `null` when it is no duration. */
  readonly parseDurationMs: (text: string) => number | null
}

export function createAdminServer(deps: AdminDeps): ManagedServer {
  const pages = new Map<string, Page>([
    ...healthPages(deps),
    ['/status', () => json(statusView(deps.status(), upstream => deps.metrics.counts(upstream)))],
    ['/policies', () => json(deps.policies())],
  ])
  let dashboard: Promise<Dashboard> | null = null
  const look = (): Promise<Dashboard> => (dashboard ??= loadDashboard(deps))
  const server = createHttpServer(request => answer(deps, pages, look, request), refuseForeignAddress)
  return {
    async listen(address) {
      const bound = await server.listen(address)
      deps.observer.start()
      return bound
    },
    async close() {
      deps.observer.stop()
      const closed = server.close()
      await dashboard?.then(loaded => loaded.close())
      await closed
    },
  }
}

async function loadDashboard(deps: AdminDeps): Promise<Dashboard> {
  const { Dashboard } = await import('./dashboard/dashboard.js')
  return new Dashboard({ ...deps, pages: PAGES, verbs: VERBS })
}

function answer(
  deps: AdminDeps,
  pages: ReadonlyMap<string, Page>,
  look: () => Promise<Dashboard>,
  request: AdminRequest,
): Answer | Promise<Answer> {
  if (isForeignHost(request)) return problem(403, 'the Host must be localhost, 127.0.0.1 or [::1]')
  const page = readPage(pages, request)
  const parked = page ?? parkedAnswerTo(request, deps.parked)
  if (parked !== null) return parked
  if (DASHBOARD.test(request.path)) {
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed('GET, HEAD')
    return look().then(dashboard => dashboard.answer(request))
  }
  const verb = verbAt(request.path, deps.actions, deps.parseDurationMs)
  if (verb === null) return problem(404, 'no such page; / lists them')
  if (request.method !== 'POST') return methodNotAllowed('POST')
  if (isForeignOrigin(request)) return problem(403, 'a page of another origin may not do this')
  return verb(request.query)
}

function refuseForeignAddress({ hosts, port }: ListenAddress): string | null {
  const foreign = hosts.find(host => !isLoopback(host))
  if (foreign === undefined) return null
  return `the admin port changes what the sidecar does, so it may only listen on loopback, not on ${foreign}; write 127.0.0.1:${port} or localhost:${port}`
}

const DASHBOARD = /^(?:\/|\/events|\/dashboard\/[a-z.-]+|\/upstreams\/[^/]+\/(?:detail|policy))$/
const PAGES = ['/status', '/policies', '/parked', '/metrics', '/livez', '/readyz', '/startupz']
const VERBS = [
  '/reload',
  '/drain',
  '/retries/off?for=10m',
  '/retries/on',
  '/faults/on?for=10m',
  '/faults/off',
  '/upstreams/NAME/breaker?set=open|closed|auto',
  '/upstreams/NAME/budget?reset',
  '/parked/ID/retry',
  '/parked/ID/drop',
  '/quitquitquit',
]
