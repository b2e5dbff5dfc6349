import { type Command, InvalidArgumentError } from 'commander'
import { isLoopback, parseListenAddress } from '../src/core/listen-address.js'
import { durationMs, flag } from './flags.js'
import { explainStartError } from './start-errors.js'
import { superviseSidecar } from './supervise.js'

interface RunFlags {
  readonly policies?: string
  readonly listen: string
  readonly admin: string
  readonly health: string
  readonly start: 'all' | 'valid-only'
  readonly unmatched: 'refuse' | 'tunnel'
  readonly maxConnections: number
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly accessLog: 'all' | 'sampled' | 'errors' | 'off'
  readonly accessLogSample: number
  /** ms */
  readonly drainPeriod: number
  /** ms */
  readonly drainQuiet: number
}

export function registerRun(program: Command): void {
  program
    .command('run')
    .description('run the sidecar')
    .addOption(flag('--policies <dir>', 'directory with the policy files (required)'))
    .addOption(flag('--listen <host:port>', 'shared port for the app').default('127.0.0.1:15080'))
    .addOption(flag('--admin <host:port>', 'admin port, loopback only').default('127.0.0.1:15081'))
    .addOption(flag('--health <host:port>', 'health port for probes and scrapes').default('127.0.0.1:15082'))
    .addOption(
      flag('--start <mode>', 'valid-only starts with the valid documents')
        .choices(['all', 'valid-only'])
        .default('all'),
    )
    .addOption(
      flag('--unmatched <mode>', 'CONNECT to a host that no upstream declares')
        .choices(['refuse', 'tunnel'])
        .default('refuse'),
    )
    .addOption(
      flag('--max-connections <number>', 'open connections of the app to each address')
        .argParser(wholeNumber)
        .default(10_000),
    )
    .addOption(
      flag('--log-level <level>', 'least level logged').choices(['debug', 'info', 'warn', 'error']).default('info'),
    )
    .addOption(
      flag('--access-log <which>', 'which requests are logged')
        .choices(['all', 'sampled', 'errors', 'off'])
        .default('all'),
    )
    .addOption(
      flag('--access-log-sample <number>', 'with sampled: one of so many plain requests')
        .argParser(wholeNumber)
        .default(100),
    )
    .addOption(
      flag('--drain-period <duration>', 'longest time between SIGTERM and exit')
        .argParser(durationMs)
        .default(25_000, '25s'),
    )
    .addOption(
      flag('--drain-quiet <duration>', 'time without a call after which the app is taken to be done')
        .argParser(durationMs)
        .default(2_000, '2s'),
    )
    .addHelpText(
      'after',
      '\nEach flag can also be set as FORBEAR_… (FORBEAR_LOG_LEVEL=warn).\n\nExample:\n  $ forbear run --policies ./policies',
    )
    .action(async ({ policies, ...flags }: RunFlags, command: Command) => {
      // Not a mandatory option: commander would then complain of it before it names an unknown flag.
      if (policies === undefined) command.error("error: required option '--policies <dir>' not specified")
      if (flags.unmatched === 'tunnel' && !loopbackOnly(flags.listen)) {
        command.error(`error: --unmatched tunnel would make an open proxy of ${flags.listen}: listen on loopback only`)
      }
      process.exitCode = await run({ policies, ...flags })
    })
}

/** An address that is none has a message of its own. */
function loopbackOnly(listen: string): boolean {
  const address = parseListenAddress(listen)
  return 'error' in address || address.hosts.every(isLoopback)
}

function wholeNumber(text: string): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number < 1) throw new InvalidArgumentError('write a whole number from 1, such as 100.')
  return number
}

async function run(flags: RunFlags & { readonly policies: string }): Promise<number> {
  const { startSidecar } = await import('../src/app.js')
  try {
    const sidecar = await startSidecar({
      policiesDir: flags.policies,
      listen: flags.listen,
      admin: flags.admin,
      health: flags.health,
      start: flags.start,
      unmatched: flags.unmatched,
      maxConnections: flags.maxConnections,
      logLevel: flags.logLevel,
      accessLog: flags.accessLog,
      accessLogSample: flags.accessLogSample,
      drainPeriodMs: flags.drainPeriod,
      drainQuietMs: flags.drainQuiet,
      pretty: process.stdout.isTTY === true,
    })
    return await superviseSidecar(sidecar)
  } catch (error) {
    return explainStartError(error)
  }
}
