import type { LogSink } from './log.js'

/**
 * Makes the log outlive the process: a crash leaves a line with its error, and everything gathered is written before
 * the exit. Error and exit code stay Node's own. Returns what does so by hand and
 * takes the handlers off again.
 */
export function keepLastWords(sink: LogSink): () => void {
  const onCrash = (error: unknown, origin: string): void => {
    quietly(() => sink.log.error('crashed', { origin, ...describe(error) }))
  }
  const onExit = (): void => quietly(() => sink.leave())
  process.on('uncaughtExceptionMonitor', onCrash)
  process.on('exit', onExit)
  return () => {
    onExit()
    process.off('uncaughtExceptionMonitor', onCrash)
    process.off('exit', onExit)
  }
}

function describe(error: unknown): { readonly error: string; readonly stack?: string | undefined } {
  return error instanceof Error ? { error: error.message, stack: error.stack } : { error: String(error) }
}

/** A failure to log must not mask the error that ends the process (pinojs/pino#1400). */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    return
  }
}
