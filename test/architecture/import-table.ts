/** Who may import whom, as data. A unit is a folder of `src`, a file that differs from its folder, or `cmd`. */
export interface UnitRule {
  /** Own unit included. A folder covers its files; `telemetry/events` and the like name one file of it. */
  readonly imports: readonly string[]
  /** May be imported with `import type` only. */
  readonly types?: readonly string[]
  readonly npm?: readonly string[]
  /** Node's own modules. */
  readonly node: boolean
  /** Reads no clock, no randomness and no environment of its own: they are arguments. */
  readonly pure?: boolean
}

/** Packages that cost start-up time and are not needed by every run: dynamic import only. */
export const LAZY_PACKAGES = [
  'http-proxy',
  'pino-pretty',
  'chokidar',
  'classic-level',
  'bullmq',
  'ioredis',
  '@peculiar/x509',
  'reflect-metadata',
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
] as const

export const UNIT_RULES: Readonly<Record<string, UnitRule>> = {
  core: { imports: ['core'], node: false, pure: true },
  clock: { imports: ['clock'], node: true },
  'telemetry/events': { imports: ['core'], node: false },
  'telemetry/status': { imports: ['core'], node: false },
  telemetry: {
    imports: ['telemetry', 'core'],
    npm: [
      'pino',
      'pino-pretty',
      'prom-client',
      '@opentelemetry/api',
      '@opentelemetry/sdk-trace-base',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
    ],
    node: true,
  },
  pipeline: {
    imports: ['pipeline', 'core', 'telemetry/events', 'telemetry/status'],
    types: ['clock'],
    node: false,
    pure: true,
  },
  // The I/O half of parking: stores, keys and hooks. What it sends again goes through the pipeline, by way of app.
  park: {
    imports: ['park', 'core'],
    types: ['clock', 'pipeline', 'telemetry/events'],
    npm: ['classic-level', 'bullmq', 'ioredis'],
    node: true,
  },
  'pipeline/drain': { imports: [], types: ['clock'], node: false, pure: true },
  // Every listener is bound alike, the operator's too.
  'proxy/bind': { imports: ['core'], node: true },
  proxy: {
    imports: ['proxy', 'pipeline', 'core', 'clock', 'telemetry/events', 'telemetry/status'],
    npm: ['undici', 'http-proxy', 'opossum'],
    node: true,
  },
  policy: {
    imports: ['policy', 'core'],
    types: ['clock', 'telemetry/events', 'telemetry/status'],
    npm: ['yaml', 'ajv', 'chokidar'],
    node: true,
  },
  admin: {
    imports: ['admin', 'telemetry', 'core', 'proxy/bind'],
    types: ['pipeline', 'policy', 'clock', 'park'],
    node: true,
  },
  // A reader of the admin port from outside.
  top: { imports: ['top'], types: ['telemetry/status'], node: true },
  kube: { imports: ['kube', 'policy', 'core'], npm: ['yaml'], node: true },
  // A server of its own, with the log, the health port and the way of ending that a sidecar has.
  'kube/webhook': {
    imports: ['kube', 'policy', 'core', 'clock', 'admin', 'telemetry', 'proxy/bind', 'pipeline/drain'],
    npm: ['prom-client'],
    node: true,
  },
  'kube/certs': { imports: ['kube', 'core'], npm: ['yaml', '@peculiar/x509', 'reflect-metadata'], node: true },
  simulator: {
    imports: ['simulator', 'proxy', 'pipeline', 'core', 'clock', 'telemetry/events', 'telemetry/status'],
    types: ['policy'],
    node: false,
    pure: true,
  },
  demo: { imports: ['demo', 'clock', 'core'], node: true },
  // What is said to and had of a sidecar.
  sidecar: { imports: [], types: ['policy', 'telemetry'], node: false },
  app: {
    imports: ['app', 'sidecar', 'core', 'clock', 'telemetry', 'pipeline', 'proxy', 'policy', 'admin', 'park'],
    npm: ['pino', 'prom-client'],
    node: true,
  },
  cmd: { imports: ['cmd', 'app', 'core'], npm: ['commander'], node: true },
  // Durations.
  'cmd/flags': { imports: ['policy'], npm: ['commander'], node: true },
  'cmd/run': { imports: ['cmd', 'app', 'core'], npm: ['commander'], node: true },
  // The messages of a refused start.
  'cmd/start-errors': { imports: ['cmd', 'app', 'policy'], node: true },
  'cmd/check': { imports: ['cmd', 'policy', 'core'], npm: ['commander'], node: true },
  'cmd/explain-code': { imports: ['cmd', 'policy'], node: true },
  'cmd/explain': { imports: ['cmd', 'policy', 'pipeline', 'core'], npm: ['commander'], node: true },
  'cmd/explain-field': { imports: ['cmd', 'policy'], node: true },
  'cmd/parked': { imports: ['cmd', 'park', 'clock'], npm: ['commander'], node: true },
  'cmd/top': { imports: ['cmd', 'top'], npm: ['commander'], node: true },
  'cmd/schema': { imports: ['cmd', 'policy'], npm: ['commander'], node: true },
  'cmd/demo': { imports: ['cmd', 'app', 'demo', 'clock'], npm: ['commander'], node: true },
  'cmd/simulate': { imports: ['cmd', 'policy', 'simulator', 'core'], npm: ['commander'], node: true },
  'cmd/webhook': { imports: ['cmd', 'kube', 'proxy/bind'], npm: ['commander'], node: true },
  'cmd/certs': { imports: ['cmd', 'kube'], npm: ['commander'], node: true },
  'cmd/inject': { imports: ['cmd', 'kube', 'policy'], npm: ['commander'], node: true },
  'cmd/uninject': { imports: ['cmd', 'kube'], npm: ['commander'], node: true },
  // Manifests in, manifests out.
  'cmd/manifests': { imports: ['cmd', 'kube'], node: true },
}

export const TOP_LEVEL = [
  'cmd',
  'src',
  'policies',
  'schemas',
  'deploy',
  'test',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'LICENSE',
] as const

/** Made by tools and ignored by git. */
export const MADE_BY_TOOLS = ['node_modules', 'dist', 'coverage'] as const

export const MAX_LINES = 250
