/** A large policy set: upstreams with five routes each, about 1.2 KB of YAML a document. */
export function upstreamText(n, targetPort, maxAttempts = 3) {
  const route = (at, method, path) => `    - name: route-${at}
      match: { methods: [${method}], ${path} }
      timeouts: { attempt: ${at + 1}s }
      retry: { maxAttempts: 2, backoff: { base: ${100 + at}ms, cap: 2s } }
`
  return `# Service ${n} of the shop.
apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata:
  name: service-${n}
spec:
  target: http://127.0.0.1:${targetPort}/service-${n}
  match: { hosts: [service-${n}.internal], pathPrefix: /service-${n} }
  timeouts: { connect: 1s, total: 20s }
  retry:
    maxAttempts: ${maxAttempts}
    retryOn: [connect, reset, 502, 503, 504]
  budget: { ratio: 0.1, window: 10s, minPerSecond: 1 }
  routes:
${route(0, 'POST', 'path: /v1/orders')}${route(1, 'GET', 'path: "/v1/orders/{id}"')}${route(2, 'GET', 'pathPrefix: /v1/stock')}${route(3, 'PUT', 'path: "/v1/stock/{id}"')}${route(4, 'DELETE', 'pathPrefix: /v1/cart')}`
}

/** The documents spread evenly over files, in order: `part-0.yaml` and so on. */
export function filesOf(documents, fileCount) {
  const perFile = Math.ceil(documents.length / fileCount)
  const files = {}
  for (let at = 0; at < documents.length; at += perFile) {
    files[`part-${at / perFile}.yaml`] = documents.slice(at, at + perFile).join('---\n')
  }
  return files
}
