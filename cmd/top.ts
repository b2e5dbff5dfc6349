import { type Command, InvalidArgumentError, Option } from 'commander'
import { wantsColor } from './color.js'
import { EXIT } from './exit-codes.js'
import { durationMs } from './flags.js'

interface TopFlags {
  readonly admin: string
  /** ms */
  readonly interval: number
  readonly once?: boolean
  readonly output: 'text' | 'json'
}

const MIN_INTERVAL_MS = 100
const MAX_INTERVAL_MS = 3_600_000
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function registerTop(program: Command): void {
  program
    .command('top')
    .description(
      'watch a running sidecar: which upstream is sick, whether retries stay in their budget, and why calls fail',
    )
    .option('--admin <host:port>', 'admin port of the sidecar', address, '127.0.0.1:15081')
    .addOption(new Option('--interval <duration>', 'time between looks').argParser(interval).default(1000, '1s'))
    .option('--once', 'one block of text over one interval, then end')
    .addOption(new Option('--output <format>', 'json: one line an interval').choices(['text', 'json']).default('text'))
    .addHelpText('after', HELP)
    .action(async (flags: TopFlags) => {
      process.exitCode = await run(flags)
    })
}

const HELP = `
In a terminal a live screen, elsewhere text. Keys: q quit, s sort, j/k or arrows select, enter shows routes and policy, esc
goes back, p pauses, / filters by name. It changes nothing.

Example:
  $ forbear top
  $ forbear top --once --output json --interval 5s`

function interval(text: string): number {
  const ms = durationMs(text)
  if (ms < MIN_INTERVAL_MS || ms > MAX_INTERVAL_MS) throw new InvalidArgumentError('write a duration from 100ms to 1h.')
  return ms
}

function address(text: string): string {
  if (!/^(\[[0-9a-fA-F:]+\]|[^\s/:@?#]+):\d{1,5}$/.test(text)) {
    throw new InvalidArgumentError('write host and port, such as 127.0.0.1:15081.')
  }
  return text
}

async function run({ admin, interval: intervalMs, once = false, output }: TopFlags): Promise<number> {
  const { top } = await import('../src/top/top.js')
  const stop = new AbortController()
  const onEnd = (): void => stop.abort()
  // Whoever reads the output may have seen enough: `forbear top | head`.
  process.stdout.on('error', onEnd)
  for (const signal of ENDINGS) process.on(signal, onEnd)
  const isScreen = process.stdout.isTTY === true && !once && output === 'text' && process.env['TERM'] !== 'dumb'
  const answered = await top({
    ...{ admin, intervalMs, once, output, stop },
    live: isScreen,
    colors: wantsColor(process.stdout, process.env),
    write: text => process.stdout.write(text),
  })
  for (const signal of ENDINGS) process.off(signal, onEnd)
  return answered || stop.signal.aborted ? EXIT.ok : EXIT.problems
}
