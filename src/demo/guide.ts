import { MODE_MEANINGS, MODES } from './modes.js'

/** `host:port` each. */
export interface DemoAddresses {
  readonly shared: string
  readonly admin: string
  /** The demo upstream's own port on the sidecar. */
  readonly own: string
  readonly upstream: string
}

/** Name of the upstream in `policies/`, hence its path prefix on the shared port. */
export const DEMO_UPSTREAM = 'flaky'

/** What a newcomer can type while the demo runs. */
export function guide({ shared, admin, own, upstream }: DemoAddresses, traffic: boolean): string {
  const modes = MODES.map(mode => `    ${mode.padEnd(9)} ${MODE_MEANINGS[mode]}`)
  return `
  you → forbear on ${shared} → an upstream that misbehaves on ${upstream}

  Call it:
    curl -i http://${shared}/${DEMO_UPSTREAM}/orders/1       the shared port, by path prefix
    curl -i http://${own}/orders/1             the upstream's own port
    curl -i -X POST http://${own}/orders       not repeated: POST without a key

  It changes its mode every so often. Choose one yourself (auto = by itself again):
    curl -X POST http://${upstream}/__mode/down
${modes.join('\n')}

  See what forbear knows, and what reached the upstream:
    curl http://${admin}/status
    curl http://${upstream}/__stats

  ${traffic ? 'Five calls a second are on their way.' : 'Start with --traffic for five calls a second: npm start -- --traffic'}
  Edit a file in policies/ and the change applies at once. Ctrl-C ends the demo.
`
}

/** What to do about a port that something else holds; `null` for any other error. */
export function portTakenMessage(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') return null
  return `${error.message}\nIs another demo running? \`ss -ltnp\` shows who has the port. The sidecar's own three ports can also be moved with --listen, --admin and --health.`
}
