/** As much of an API server as kubectl needs to create, get and edit pods and ConfigMaps through admission webhooks. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Admitted, admit, type Json, type Review, type WebhookConfig } from './api-server.js'

type Resource = 'pods' | 'configmaps'

interface Stored extends Json {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> } & Json
}

const VERBS = ['create', 'get', 'list', 'patch', 'update', 'delete']
const DISCOVERY: Readonly<Record<string, unknown>> = {
  '/version': { major: '1', minor: '33', gitVersion: 'v1.33.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: VERBS },
      { name: 'configmaps', singularName: 'configmap', namespaced: true, kind: 'ConfigMap', verbs: VERBS },
    ],
  },
}

/** Label that sends an object to its webhook. */
const SELECTED = { pods: 'forbear.dev/inject', configmaps: 'forbear.dev/policy' } as const

export class MiniApiServer {
  readonly stored = new Map<string, Stored>()
  readonly #server: Server
  readonly #webhooks: Readonly<Record<Resource, WebhookConfig>>

  private constructor(webhooks: Readonly<Record<Resource, WebhookConfig>>) {
    this.#webhooks = webhooks
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(error => status(response, 500, { message: String(error) }))
    })
  }

  static async start(webhooks: Readonly<Record<Resource, WebhookConfig>>): Promise<MiniApiServer> {
    const server = new MiniApiServer(webhooks)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url)
    const page = DISCOVERY[pathname]
    if (page !== undefined) return json(response, 200, page)
    const [, resource, name] = /^\/api\/v1\/namespaces\/[^/]+\/(pods|configmaps)(?:\/([^/]+))?$/.exec(pathname) ?? []
    if (resource === undefined) return status(response, 404, { reason: 'NotFound', message: `no ${pathname}` })
    const old = this.stored.get(`${resource}/${name}`)
    const dryRun = searchParams.get('dryRun') === 'All'
    const body = await textOf(request)
    if (request.method === 'POST') {
      return this.#admit(response, {
        resource: resource as Resource,
        object: JSON.parse(body),
        operation: 'CREATE',
        dryRun,
      })
    }
    if (old === undefined)
      return status(response, 404, { reason: 'NotFound', message: `${resource} "${name}" not found` })
    if (request.method === 'GET') return json(response, 200, old)
    const object = request.method === 'PATCH' ? merged(old, JSON.parse(body)) : JSON.parse(body)
    return this.#admit(response, {
      resource: resource as Resource,
      object,
      oldObject: old,
      operation: 'UPDATE',
      dryRun,
    })
  }

  async #admit(response: ServerResponse, review: Review & { readonly resource: Resource }): Promise<void> {
    const object = review.object as Stored
    const selected = object.metadata.labels?.[SELECTED[review.resource]] === 'true'
    const admitted = selected ? await admit(this.#webhooks[review.resource], review) : null
    for (const warning of admitted?.warnings ?? [])
      response.appendHeader('warning', Buffer.from(`299 - ${JSON.stringify(warning)}`).toString('latin1'))
    if (admitted?.allowed === false) return denied(response, admitted)
    const stored = (admitted?.object ?? object) as Stored
    if (review.dryRun !== true) this.stored.set(`${review.resource}/${stored.metadata.name}`, stored)
    json(response, review.operation === 'CREATE' ? 201 : 200, stored)
  }
}

/** As `ToStatusErr` of k8s.io/apiserver makes it. */
function denied(response: ServerResponse, { status: told }: Admitted): void {
  const message = `admission webhook "policy.check.forbear.dev" denied the request: ${told?.message}`
  status(response, told?.code ?? 400, { ...told, message })
}

function status(response: ServerResponse, code: number, more: Json): void {
  json(response, code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, ...more })
}

function json(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** RFC 7396, which for a ConfigMap is the same as a strategic merge. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Json = typeof target === 'object' && target !== null ? { ...(target as Json) } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}
