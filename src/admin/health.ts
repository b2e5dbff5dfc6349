/**
 * The health port: what kubelet and Prometheus read. It may listen on all addresses, so it shows nothing else and
 * changes nothing.
 */
import type { MetricsSource } from '../telemetry/metrics.js'
import { type Answer, methodNotAllowed, problem, text } from './answer.js'
import { type AdminRequest, createHttpServer, type ManagedServer } from './http-server.js'

export interface HealthDeps {
  /**
   * `starting` until all listeners are bound, `stopping` from the first SIGTERM or drain on. An open breaker is no
   * reason to leave `ready`: a sidecar that is taken out of service for it makes the outage worse.
   */
  readonly phase: () => 'starting' | 'ready' | 'stopping'
  readonly metrics: Pick<MetricsSource, 'scrape'>
}

export type Page = () => Answer | Promise<Answer>

export function createHealthServer(deps: HealthDeps): ManagedServer {
  const pages = healthPages(deps)
  return createHttpServer(request => readPage(pages, request) ?? problem(404, 'no such page'))
}

export function healthPages({ phase, metrics }: HealthDeps): ReadonlyMap<string, Page> {
  return new Map<string, Page>([
    ['/livez', () => text(200, 'ok\n')],
    ['/readyz', () => text(phase() === 'ready' ? 200 : 503, `${phase()}\n`)],
    ['/startupz', () => (phase() === 'starting' ? text(503, 'starting\n') : text(200, 'started\n'))],
    ['/metrics', async () => ({ status: 200, ...(await metrics.scrape()) })],
  ])
}

/** `null` when there is no such page. */
export function readPage(pages: ReadonlyMap<string, Page>, request: AdminRequest): Answer | Promise<Answer> | null {
  const page = pages.get(request.path)
  if (page === undefined) return null
  return request.method === 'GET' || request.method === 'HEAD' ? page() : methodNotAllowed('GET, HEAD')
}
