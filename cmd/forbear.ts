#!/usr/bin/env node
import { EXIT } from './exit-codes.js'
import { packageVersion } from './package-files.js'

const COMMANDS = [
  'run',
  'check',
  'explain',
  'schema',
  'parked',
  'top',
  'inject',
  'uninject',
  'webhook',
  'certs',
  'demo',
] as const
type CommandName = (typeof COMMANDS)[number]

// Only what is asked for is loaded: a sidecar must be ready before the app sends its first call.
const LOAD: Readonly<Record<CommandName, () => Promise<Registrar>>> = {
  run: async () => (await import('./run.js')).registerRun,
  check: async () => (await import('./check.js')).registerCheck,
  explain: async () => (await import('./explain.js')).registerExplain,
  schema: async () => (await import('./schema.js')).registerSchema,
  parked: async () => (await import('./parked.js')).registerParked,
  top: async () => (await import('./top.js')).registerTop,
  inject: async () => (await import('./inject.js')).registerInject,
  uninject: async () => (await import('./uninject.js')).registerUninject,
  webhook: async () => (await import('./webhook.js')).registerWebhook,
  certs: async () => (await import('./certs.js')).registerCerts,
  demo: async () => (await import('./demo.js')).registerDemo,
}
type Registrar = (program: import('commander').Command) => void

async function main(argv: string[]): Promise<void> {
  const { Command, CommanderError } = await import('commander')
  const program = new Command('forbear')
    .description('A resilience sidecar that never makes an outage worse.')
    .version(await packageVersion(), '-V, --version')
    .showSuggestionAfterError(true)
    .showHelpAfterError('Run with --help for an example.')
    .addHelpText('after', '\nExample:\n  $ forbear run --policies ./policies')
    .exitOverride()
  const first = argv.find(word => !word.startsWith('-'))
  const asked = COMMANDS.find(name => name === first)
  for (const name of asked === undefined ? COMMANDS : [asked]) (await LOAD[name]())(program)
  for (const command of program.commands) command.exitOverride().showHelpAfterError('Run with --help for an example.')
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
}

// A reload asked for before the policies are read asks for nothing; unhandled, the signal would end the process.
process.on('SIGHUP', () => undefined)
// The first process of a container gets no signal that nobody listens for; until a command does, these end it as ever.
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(code))
}
await main(process.argv.slice(2))
