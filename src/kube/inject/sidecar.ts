import { CONTAINER_NAME, HEALTH_PORT, HEALTH_PORT_NAME, POLICY_DIRECTORY, VOLUME_NAME } from './names.js'
import type { Settings } from './settings.js'
import type { Fields, PodSpec } from './types.js'

export function sidecarContainer(podSpec: PodSpec, settings: Settings): Fields {
  const host = usesHostNetwork(podSpec) ? { host: '127.0.0.1' } : {}
  const probe = (path: string) => ({ httpGet: { path, port: HEALTH_PORT, ...host } })
  return {
    name: CONTAINER_NAME,
    image: settings.image,
    ...(settings.form === 'native' ? { restartPolicy: 'Always' } : {}),
    args: args(podSpec, settings),
    ports: [{ name: HEALTH_PORT_NAME, containerPort: HEALTH_PORT }],
    // Containers that come later wait for this one, not for readiness.
    startupProbe: { ...probe('/startupz'), periodSeconds: 1, failureThreshold: 120 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
    livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5 },
    resources: { ...settings.resources },
    securityContext: RESTRICTED,
    // A refused start tells why in its last lines.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: VOLUME_NAME, mountPath: POLICY_DIRECTORY, readOnly: true }],
    ...(settings.form === 'classic'
      ? { lifecycle: { postStart: { exec: { command: ['node', '-e', AWAIT_START] } } } }
      : {}),
  }
}

/**
 * The kubelet starts the next container when this hook is through; the image has no shell, but it has Node. It never
 * fails, for then the container would be ended: after a minute the app starts all the same.
 */
const AWAIT_START =
  `const end = Date.now() + 60000; const ask = () => fetch("http://127.0.0.1:${HEALTH_PORT}/startupz")` +
  '.then(({ ok }) => ok, () => false).then(ok => ok || Date.now() > end ? process.exit() : setTimeout(ask, 50)); ask()'

/** Text is refused by the API server; whoever wrote it, be it under `%YAML 1.2`, meant it all the same. */
export function usesHostNetwork({ hostNetwork }: PodSpec): boolean {
  return hostNetwork === true || (typeof hostNetwork === 'string' && /^(?:true|yes|on|y)$/i.test(hostNetwork))
}

/** Passes the Pod Security Standard `restricted`, whatever the pod says. */
const RESTRICTED: Fields = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
  runAsGroup: 65532,
  runAsNonRoot: true,
  runAsUser: 65532,
  seccompProfile: { type: 'RuntimeDefault' },
}

/** Whole, for a `subPath` never sees an edit and `items` never a new file. */
export function policyVolume({ configMap, optional }: Settings): Fields {
  return { name: VOLUME_NAME, configMap: { name: configMap, ...(optional ? { optional: true } : {}) } }
}

function args(podSpec: PodSpec, { form }: Settings): readonly string[] {
  // The kubelet probes the address of the pod; on the host's network that is the node's, which loopback is, too.
  const health = usesHostNetwork(podSpec) ? '127.0.0.1' : '0.0.0.0'
  const drainS = drainPeriodS(podSpec, form)
  return [
    ...['run', '--policies', POLICY_DIRECTORY, '--health', `${health}:${HEALTH_PORT}`, '--start', 'valid-only'],
    ...(drainS === DEFAULT_DRAIN_S ? [] : ['--drain-period', `${drainS}s`]),
  ]
}

/** What `forbear run` does of itself. */
const DEFAULT_DRAIN_S = 25
const DEFAULT_GRACE_S = 30
/** From the end of the drain to the kubelet's SIGKILL. */
const MARGIN_S = 5

/**
 * The drain ends before the grace period does. A native sidecar hears SIGTERM when the app has gone, so it never needs
 * longer than its default; a classic one hears it together with the app, and the app may call until the very end.
 */
export function drainPeriodS({ terminationGracePeriodSeconds: grace }: PodSpec, form: Settings['form']): number {
  const fits = Math.max(1, (typeof grace === 'number' ? grace : DEFAULT_GRACE_S) - MARGIN_S)
  return form === 'native' ? Math.min(DEFAULT_DRAIN_S, fits) : fits
}
