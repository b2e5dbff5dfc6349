/** What documents of other tools are, and what to write for them. */
import { type ParsedDocument, type Path, placeOf, valueAt } from './document.js'
import { listText } from './schema-words.js'

const BY_KIND: Readonly<Record<string, string>> = {
  VirtualService:
    'an Istio route list; write an Upstream for each destination, its retries as spec.retry and its timeout as spec.timeouts.total',
  DestinationRule: 'an Istio traffic policy; its outlierDetection becomes spec.breaker of an Upstream',
  Resiliency: 'a set of Dapr policies; write a Policy for each name and an Upstream with policyRef for each target',
  ServiceProfile:
    'a Linkerd service profile; write an Upstream, its retryBudget as spec.budget and its routes as spec.routes',
  HTTPRoute: 'a Gateway API route; write an Upstream for each backend, its rules as spec.routes',
  GRPCRoute: 'a Gateway API route; write an Upstream for each backend',
  Ingress:
    'a Kubernetes Ingress, which is about calls from outside; write an Upstream for each service that the app calls',
  BackendTrafficPolicy:
    'a policy of Envoy Gateway; write its retry and circuitBreaker as spec.retry and spec.breaker of a Policy',
  Service: 'a Kubernetes Service; write an Upstream with its address as spec.target',
  Kustomization: 'a file of kustomize; keep it outside the policy directory',
}

/** What a document that has neither apiVersion nor kind is known by. */
const BY_KEY: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['upstreams'], 'a map of upstreams; write one document of kind Upstream for each'],
  [['services', 'volumes', 'networks'], 'a Docker Compose file; write an Upstream for each service that the app calls'],
  [['static_resources', 'dynamic_resources'], 'an Envoy configuration; write an Upstream for each cluster'],
  [
    ['resilience4j', 'resilience4j.retry', 'resilience4j.circuitbreaker'],
    'a resilience4j configuration; write its retry and circuitbreaker instances as spec.retry and spec.breaker',
  ],
  [['routers', 'middlewares', 'entryPoints'], 'a Traefik configuration; write an Upstream for each service'],
  [['openapi', 'swagger'], 'an API description; write an Upstream with the address of its server as spec.target'],
]

/** `null` for a kind that is known by its name alone. */
export function foreignKindText(root: unknown, kind: unknown): string | null {
  if (kind === 'ConfigMap' || kind === 'Secret') return wrapperText(root, kind)
  return typeof kind === 'string' && Object.hasOwn(BY_KIND, kind) ? `it is ${BY_KIND[kind]}` : null
}

/** Policies are mounted from a ConfigMap; the ConfigMap itself is none. */
function wrapperText(root: unknown, kind: string): string {
  const data = valueAt(root, ['data'])
  const names = typeof data === 'object' && data !== null ? Object.keys(data) : []
  const wrapped = names.filter(name => String(valueAt(data, [name])).includes('forbear.dev/'))
  if (wrapped.length === 0) return 'put the files of its data into the directory'
  return `it holds policies under data (${listText(wrapped.slice(0, 5)).replace(/ or (?=[^,]*$)/, ' and ')}): apply it and mount it, or write what stands there into files of their own; a ${kind} is not read from a file`
}

export function unkindText(root: unknown): string | null {
  if (typeof root !== 'object' || root === null) return null
  const found = BY_KEY.find(([keys]) => keys.some(key => Object.hasOwn(root, key)))
  return found === undefined ? null : `it looks like ${found[1]}`
}

const TRUTH = /^(on|yes|off|no)$/i

/** The first value that YAML 1.1 took for a truth value: whoever copies the document would copy it too. */
export function truthWordText(document: ParsedDocument): string | null {
  const stack: { readonly value: unknown; readonly path: Path }[] = [{ value: document.root, path: [] }]
  const seen = new Set<unknown>()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, path } = next
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    for (const [key, entry] of document.entries.get(value) ?? []) {
      const inner = (value as Record<string, unknown>)[key]
      if (typeof inner === 'string' && !entry.quoted && TRUTH.test(inner)) {
        const { line } = placeOf(document, [...path, key])
        return `the ${inner} at line ${line} is text in YAML 1.2, write ${/^(on|yes)$/i.test(inner)}`
      }
      stack.push({ value: inner, path: [...path, key] })
    }
  }
  return null
}
