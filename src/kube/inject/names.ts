export const INJECT_LABEL = 'forbear.dev/inject'
export const ANNOTATION_PREFIX = 'forbear.dev/'
/** What an injection added, and by this alone it is known: a container that looks like ours is none. */
export const INJECTED_ANNOTATION = 'forbear.dev/injected'
export const DEFAULT_CONTAINER_ANNOTATION = 'kubectl.kubernetes.io/default-container'

/** Suffixes of the annotations that a pod may carry. */
export const SETTING_NAMES = [
  'policy-configmap',
  'upstreams',
  'native',
  'image',
  'http-proxy',
  'skip-containers',
  'position',
  'cpu-request',
  'memory-request',
  'cpu-limit',
  'memory-limit',
  'optional',
] as const
export type SettingName = (typeof SETTING_NAMES)[number]

export const CONTAINER_NAME = 'forbear'
export const VOLUME_NAME = 'forbear-policies'
export const POLICY_DIRECTORY = '/etc/forbear'
export const DEFAULT_CONFIG_MAP = 'forbear-policies'

export const PROXY_PORT = 15080
export const ADMIN_PORT = 15081
export const HEALTH_PORT = 15082
/** At most 15 characters. */
export const HEALTH_PORT_NAME = 'forbear-health'

export const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`
export const QUIT_URL = `http://127.0.0.1:${ADMIN_PORT}/quitquitquit`
