import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { formatAddress, parseListenAddress } from '../src/core/listen-address.js'
import { parseDurationMs } from '../src/policy/duration.js'
import { EXIT } from './exit-codes.js'

interface WaitFlags {
  readonly health: string
  /** ms */
  readonly for: number
}

const LOOK_EVERY_MS = 50

export function registerWait(program: Command): void {
  program
    .command('wait')
    .description('wait until the sidecar beside this has started')
    .addOption(
      new Option('--health <host:port>', 'health port of the sidecar')
        .env('FORBEAR_HEALTH')
        .argParser(healthUrl)
        .default('http://127.0.0.1:15082', '127.0.0.1:15082'),
    )
    .addOption(new Option('--for <duration>', 'longest time').argParser(durationMs).default(60_000, '60s'))
    .addHelpText(
      'after',
      '\nAs a postStart hook it keeps the containers that come later from starting too early.\n\nExample:\n  $ forbear wait --for 30s',
    )
    .action(async (flags: WaitFlags) => {
      process.exitCode = await wait(flags)
    })
}

async function wait({ health, for: forMs }: WaitFlags): Promise<number> {
  const endMs = performance.now() + forMs
  while (!(await started(health))) {
    if (performance.now() > endMs) {
      process.stderr.write(`forbear: no sidecar has started at ${health} within ${forMs / 1000} s\n`)
      return EXIT.problems
    }
    await sleep(LOOK_EVERY_MS)
  }
  return EXIT.ok
}

function started(health: string): Promise<boolean> {
  return new Promise(resolve => {
    const request = get(`${health}/startupz`, { timeout: 1000 }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}

/** A wildcard listens on loopback, too. */
function healthUrl(text: string): string {
  const address = parseListenAddress(text)
  if ('error' in address) throw new InvalidArgumentError(address.error)
  const [host = ''] = address.hosts
  const wildcard = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host]
  return `http://${formatAddress(wildcard ?? host, address.port)}`
}

function durationMs(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === null) throw new InvalidArgumentError('write a duration such as 30s.')
  return ms
}
