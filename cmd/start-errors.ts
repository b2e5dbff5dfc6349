import { EXIT } from './exit-codes.js'

/** Tells why the sidecar could not start and gives the exit code; an error that is not the user's to mend is thrown on. */
export async function explainStartError(error: unknown): Promise<number> {
  const [{ BindError, ConfigurationError }, { formatMessages }] = await Promise.all([
    import('../src/app.js'),
    import('../src/policy/messages.js'),
  ])
  if (error instanceof ConfigurationError) process.stderr.write(`${formatMessages(error.messages)}\n`)
  else if (error instanceof BindError) process.stderr.write(`forbear: ${error.message}\n`)
  else throw error
  return EXIT.configuration
}
