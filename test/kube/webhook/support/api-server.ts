/**
 * Calls an admission webhook as k8s.io/apiserver does: trust is the caBundle alone, the name asked for is that of the
 * Service, HTTP/1.1 only, and what comes back is believed only where it is exactly an AdmissionReview.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import jsonPatch from 'fast-json-patch'

export interface WebhookConfig {
  readonly port: number
  /** PEM. */
  readonly caBundle: string
  readonly path: string
  /** Default `forbear-webhook.forbear-system.svc`. */
  readonly serverName?: string
  /** Told to the webhook. */
  readonly timeoutSeconds?: number
  /** Kept by the client; a host that is busy with tests is slower than an API server would have it. Default 20 s. */
  readonly patienceMs?: number
  readonly agent?: Agent
}

export const SERVICE = 'forbear-webhook'
export const NAMESPACE = 'forbear-system'

export type Json = Record<string, unknown>

export interface Review {
  readonly resource?: 'pods' | 'configmaps' | 'services'
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly object: unknown
  readonly oldObject?: unknown
  readonly dryRun?: boolean
  readonly subResource?: string
}

export interface Admitted {
  readonly allowed: boolean
  readonly warnings: readonly string[]
  /** After the patch. */
  readonly object: unknown
  readonly patch: readonly PatchOperation[]
  readonly status: {
    readonly code: number
    readonly reason: string
    readonly message: string
    readonly details: Details
  } | null
}

export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
}

interface Details {
  readonly kind: string
  readonly name: string
  readonly causes: readonly { readonly field: string; readonly message: string }[]
}

const KINDS = { pods: 'Pod', configmaps: 'ConfigMap', services: 'Service' } as const

export function reviewOf({ resource = 'pods', operation = 'CREATE', object, oldObject = null, ...rest }: Review) {
  const { dryRun = false, subResource } = rest
  const kind = { group: '', version: 'v1', kind: KINDS[resource] }
  const named = (object ?? oldObject) as { metadata?: { name?: string; namespace?: string } } | null
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: randomUUID(),
      kind,
      resource: { group: '', version: 'v1', resource },
      requestKind: kind,
      requestResource: { group: '', version: 'v1', resource },
      ...(subResource !== undefined && { subResource }),
      name: named?.metadata?.name ?? '',
      namespace: named?.metadata?.namespace ?? 'shop',
      operation,
      userInfo: { username: 'ada', groups: ['system:authenticated'] },
      object,
      oldObject,
      dryRun,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  }
}

/** Throws where an API server calls the webhook failed, and `failurePolicy` decides. */
export async function admit(config: WebhookConfig, review: Review): Promise<Admitted> {
  const sent = reviewOf(review)
  const answer = await post(config, JSON.stringify(sent))
  if (answer.status !== 200) throw new Error(`the webhook answered ${answer.status}: ${answer.text}`)
  return believed(JSON.parse(answer.text) as Json, sent.request.uid, review.object)
}

function believed(answer: Json, uid: string, object: unknown): Admitted {
  const { apiVersion, kind, response } = answer as { apiVersion: unknown; kind: unknown; response: Json | undefined }
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') throw new Error('expected an AdmissionReview')
  if (response === undefined) throw new Error('the response is missing')
  if (response['uid'] !== uid) throw new Error('another uid')
  const { patch: encoded, patchType } = response
  if ((encoded === undefined) !== (patchType === undefined)) throw new Error('patch and patchType go together')
  if (patchType !== undefined && patchType !== 'JSONPatch') throw new Error(`patchType ${String(patchType)}`)
  const patch =
    encoded === undefined ? [] : (JSON.parse(Buffer.from(String(encoded), 'base64').toString()) as PatchOperation[])
  return {
    allowed: response['allowed'] as boolean,
    warnings: (response['warnings'] as string[] | undefined) ?? [],
    status: (response['status'] as Admitted['status'] | undefined) ?? null,
    patch,
    object: patch.length === 0 ? object : applied(object, patch),
  }
}

/** Strictly: a path that is not there is an error. */
export function applied(object: unknown, patch: readonly PatchOperation[]): unknown {
  const copy = structuredClone(object)
  return jsonPatch.applyPatch(copy, structuredClone(patch) as Parameters<typeof jsonPatch.applyPatch>[1], true)
    .newDocument
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: IncomingMessage['headers']
  /** Serial of the certificate that was shown. */
  readonly serial: string
}

export interface PostOptions {
  readonly method?: string
  readonly contentType?: string | null
}

/** One request; rejects with the error of the connection. */
export async function post(config: WebhookConfig, body: string | Buffer, options: PostOptions = {}): Promise<Answer> {
  const { port, caBundle, path, timeoutSeconds = 5, agent } = config
  const { method = 'POST', contentType = 'application/json' } = options
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path: `${path}?timeout=${timeoutSeconds}s`,
    ca: caBundle,
    servername: config.serverName ?? `${SERVICE}.${NAMESPACE}.svc`,
    agent: agent ?? new Agent({ ALPNProtocols: ['http/1.1'] }),
    timeout: config.patienceMs ?? 20_000,
    headers: {
      accept: 'application/json, */*',
      ...(contentType !== null && { 'content-type': contentType }),
      'content-length': Buffer.byteLength(body),
      'user-agent': 'kube-apiserver-admission',
    },
  })
  sent.on('timeout', () => sent.destroy(new Error('context deadline exceeded')))
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const serial = (response.socket as TLSSocket).getPeerX509Certificate()?.serialNumber ?? ''
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return { status: response.statusCode ?? 0, text, headers: response.headers, serial }
}
