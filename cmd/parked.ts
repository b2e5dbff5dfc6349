import type { Command } from 'commander'
import type { ParkedCalls, ParkedView } from '../src/park/views.js'
import { EXIT } from './exit-codes.js'

interface Where {
  /** Of a running sidecar. */
  readonly admin: string
  /** Instead: the store itself. */
  readonly store?: string
}

type Act = (calls: ParkedCalls) => Promise<number>

export function registerParked(program: Command): void {
  const parked = program
    .command('parked')
    .description('what a sidecar has parked: calls that failed and are sent again slowly')
    .addHelpText(
      'after',
      '\nExamples:\n  $ forbear parked list\n  $ forbear parked retry 0mg1x2k3z-5f0c9a7be210\n' +
        '  $ forbear parked list --store /var/lib/forbear     # while its sidecar is down',
    )
  sub(parked, 'list', 'one line for each entry').action(async (where: Where) => run(where, list))
  sub(parked, 'show <id>', 'one entry as JSON').action(async (id: string, where: Where) =>
    run(where, calls => show(calls, id)),
  )
  sub(parked, 'retry <id>', 'send it now; a dead one lives again').action(async (id: string, where: Where) =>
    run(where, calls => act(calls, 'retry', id)),
  )
  sub(parked, 'drop <id>', 'forget it').action(async (id: string, where: Where) =>
    run(where, calls => act(calls, 'drop', id)),
  )
  sub(parked, 'export', 'whole entries, bodies included, as JSON lines; secret headers stay encrypted').action(
    async (where: Where) => run(where, exported),
  )
}

function sub(parked: Command, name: string, description: string): Command {
  const word = name.split(' ')[0]
  return parked
    .command(name)
    .description(description)
    .option('--admin <host:port>', 'admin port of the running sidecar', '127.0.0.1:15081')
    .option('--store <location>', 'the store itself, a directory or redis://…, while no sidecar has it open')
    .addHelpText('after', `\nExample:\n  $ forbear parked ${name.replace('<id>', '0mg1x2k3z-5f0c9a7be210')}`)
    .showHelpAfterError(`Run with ${word} --help for an example.`)
    .exitOverride()
}

async function run(where: Where, work: Act): Promise<void> {
  try {
    process.exitCode =
      where.store === undefined ? await work(await viaAdmin(where.admin)) : await inStore(where.store, work)
  } catch (error) {
    process.stderr.write(`forbear: ${(error as Error).message}\n`)
    process.exitCode = EXIT.problems
  }
}

async function viaAdmin(address: string): Promise<ParkedCalls> {
  const { adminCalls } = await import('../src/park/admin-client.js')
  return adminCalls(address)
}

async function inStore(location: string, work: Act): Promise<number> {
  const [{ openStore }, { parkedCalls }, { SystemClock }] = await Promise.all([
    import('../src/park/open-store.js'),
    import('../src/park/views.js'),
    import('../src/clock/system-clock.js'),
  ])
  const onTrouble = (text: string): void => void process.stderr.write(`forbear: ${text}\n`)
  const store = await openStore(location, { clock: new SystemClock(), onTrouble })
  try {
    return await work(parkedCalls(() => [store]))
  } finally {
    await store.close()
  }
}

async function list(calls: ParkedCalls): Promise<number> {
  const entries = await calls.list()
  const rows = entries.map(rowOf)
  if (rows.length === 0) process.stdout.write('nothing is parked\n')
  const widths = HEAD.map((word, column) => Math.max(word.length, ...rows.map(row => (row[column] ?? '').length)))
  for (const row of rows.length === 0 ? [] : [HEAD, ...rows]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
  }
  return EXIT.ok
}

const HEAD = ['ID', 'STATE', 'UPSTREAM', 'CALL', 'REDELIVERIES', 'LAST', 'DUE']

function rowOf({ id, state, upstream, method, path, attempts, last, dueAt }: ParkedView): string[] {
  return [id, state, upstream, `${method} ${path}`, String(attempts), last ?? '-', dueAt ?? '-']
}

async function show(calls: ParkedCalls, id: string): Promise<number> {
  const entry = await calls.show(id)
  if (entry === null) return missing(id)
  process.stdout.write(`${JSON.stringify(entry, null, 2)}\n`)
  return EXIT.ok
}

async function act(calls: ParkedCalls, verb: 'retry' | 'drop', id: string): Promise<number> {
  if (await calls[verb](id)) return EXIT.ok
  const entry = await calls.show(id)
  if (entry === null) return missing(id)
  process.stderr.write(`forbear: ${id} is ${entry.state}, or being delivered now\n`)
  return EXIT.problems
}

async function exported(calls: ParkedCalls): Promise<number> {
  process.stdout.write(await calls.exported())
  return EXIT.ok
}

function missing(id: string): number {
  process.stderr.write(`forbear: no parked call is called ${id}\n`)
  return EXIT.problems
}
