import type { Sidecar } from '../src/app.js'

/** What is still held when all is closed (an export that a collector does not answer) keeps the process so long, ms. */
const LAST_MS = 1000

/**
 * SIGTERM drains, SIGINT (Ctrl-C) ends as soon as nothing is in flight, a second one of either ends at once; SIGHUP
 * reads the policies again. Resolves with the exit code.
 */
export async function superviseSidecar(sidecar: Pick<Sidecar, 'stop' | 'reload' | 'closed'>): Promise<number> {
  let asked = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(0)
    asked = true
    sidecar.stop(signal === 'SIGTERM')
  }
  const onHangUp = (): void => sidecar.reload()
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('SIGHUP', onHangUp)
  try {
    const code = await sidecar.closed
    setTimeout(() => process.exit(code), LAST_MS).unref()
    return code
  } finally {
    process.off('SIGTERM', onSignal)
    process.off('SIGINT', onSignal)
    process.off('SIGHUP', onHangUp)
  }
}
