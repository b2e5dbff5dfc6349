/** Pods as an API server sends them: some before and some after its defaults. */
import type { Json } from './api-server.js'

export const POLICIES = { 'forbear.dev/policy-configmap': 'shop-policies' }

export function pod(spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'shop',
      namespace: 'shop',
      labels: { 'forbear.dev/inject': 'true' },
      annotations: POLICIES,
      ...metadata,
    },
    spec: { containers: [{ name: 'shop', image: 'registry.example.com/shop:1' }], ...spec },
  }
}

/** What the defaults and the service account admission leave behind. */
export const DEFAULTED = pod({
  containers: [
    {
      name: 'shop',
      image: 'registry.example.com/shop:1',
      imagePullPolicy: 'IfNotPresent',
      env: [{ name: 'MODE', value: 'prod' }],
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      volumeMounts: [
        { name: 'kube-api-access-x7', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
      ],
    },
  ],
  dnsPolicy: 'ClusterFirst',
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
  priority: 0,
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  serviceAccount: 'default',
  serviceAccountName: 'default',
  terminationGracePeriodSeconds: 30,
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
  volumes: [{ name: 'kube-api-access-x7', projected: { defaultMode: 420, sources: [] } }],
})

export const PODS: Readonly<Record<string, Json>> = {
  'as written': pod(),
  'with all defaults': DEFAULTED,
  'without a name yet': pod({}, { name: undefined, generateName: 'shop-5d8c-' }),
  'with init containers': pod({ initContainers: [{ name: 'migrate', image: 'registry.example.com/migrate:1' }] }),
  'with empty lists': pod({ initContainers: [], volumes: [] }),
  'with two apps and upstreams': pod(
    {
      containers: [
        { name: 'shop', image: 'a', env: [{ name: 'A', value: '1' }] },
        { name: 'log', image: 'b' },
      ],
    },
    { annotations: { ...POLICIES, 'forbear.dev/upstreams': 'payments=9101,ledger' } },
  ),
  'of the classic form': pod({}, { annotations: { ...POLICIES, 'forbear.dev/native': 'false' } }),
  'without annotations': pod({}, { annotations: undefined }),
  'with fields of the future': pod({ holograms: [{ name: 'h' }], overhead: { 'a/b~c': '1' } }),
}
