import { expect, it } from 'vitest'
import { load } from '../policy/set.js'

const NAMED_POLICIES = `# Policies by name, and targets that refer to them.
apiVersion: example.dev/v1alpha1
kind: Resiliency
metadata: { name: checkout }
scopes: [checkout]
spec:
  policies:
    retries:
      keepTrying: { policy: constant, duration: 5s, maxRetries: -1 }
`

const ROUTE_LIST = `apiVersion: networking.example.io/v1
kind: VirtualService
metadata: { name: ratings }
spec:
  http:
    - retries: { attempts: 0 }
`

const ANCHORS = `x-common: &common
  timeoutMs: 800
upstreams:
  catalog:
    <<: *common
    hedging: { enabled: on }
`

it.each([
  ['policies by name', NAMED_POLICIES, 'kind "Resiliency" of "example.dev/v1alpha1" is not a document of forbear'],
  [
    'routes with retries',
    ROUTE_LIST,
    'kind "VirtualService" of "networking.example.io/v1" is not a document of forbear',
  ],
  ['upstreams with anchors', ANCHORS, 'not a document of forbear: it has neither apiVersion nor kind'],
])('a foreign format, %s, is refused by name and never half loaded', (_, text, refusal) => {
  const result = load(text, 'valid-only')
  expect(result.messages.map(message => message.text)).toEqual([expect.stringContaining(refusal)])
  expect(result).toMatchObject({ ok: false, partial: { upstreams: new Map(), invalid: new Map() } })
})
