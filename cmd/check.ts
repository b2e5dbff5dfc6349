import { type Command, Option } from 'commander'
import type { Checked } from '../src/policy/check.js'
import { wantsColor } from './color.js'
import { EXIT } from './exit-codes.js'
import { readStdin, write } from './streams.js'

const FORMS = ['text', 'json', 'sarif', 'github'] as const

interface CheckFlags {
  readonly output: (typeof FORMS)[number]
  readonly strict: boolean
}

export function registerCheck(program: Command): void {
  program
    .command('check')
    .description('find every mistake in policy files')
    .argument('<path...>', 'directories, each a set of its own, or files, one set together; - is standard input')
    .addOption(new Option('--output <form>', 'form of the messages').choices(FORMS).default('text'))
    .option('--strict', 'warnings fail too', false)
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: CheckFlags) => {
      process.exitCode = await check(paths, flags, program.version() ?? '')
    })
}

const HELP = `
Exits 0 if all is well, 1 if not, 2 if a path cannot be checked.

Examples:
  $ forbear check ./policies
  $ forbear check --strict --output github ./policies
  $ kubectl get configmap policies -o jsonpath='{.data.payments\\.yaml}' | forbear check -`

async function check(paths: string[], { output, strict }: CheckFlags, version: string): Promise<number> {
  const { pathFaults, STDIN } = await import('../src/policy/check-sets.js')
  const faults = pathFaults(paths)
  if (faults.length > 0) {
    process.stderr.write(faults.map(fault => `forbear: ${fault}\n`).join(''))
    return EXIT.usage
  }
  const { checkPaths } = await import('../src/policy/check.js')
  const checked = checkPaths(paths, paths.includes(STDIN) ? await readStdin() : undefined)
  write(await WRITERS[output](checked, strict, version))
  return checked.errors > 0 || (strict && checked.warnings > 0) ? EXIT.problems : EXIT.ok
}

type Writer = (checked: Checked, strict: boolean, version: string) => Promise<string>

const WRITERS: Readonly<Record<CheckFlags['output'], Writer>> = {
  text,
  github,
  json: async ({ sources: _, shown: __, ...report }) => `${JSON.stringify(report, null, 2)}\n`,
  sarif: async ({ messages, sources }, _, version) => {
    const { sarifLog } = await import('../src/policy/check-sarif.js')
    return `${JSON.stringify(sarifLog(messages, sources, { version, cwd: process.cwd() }), null, 2)}\n`
  },
}

async function text(checked: Checked, strict: boolean): Promise<string> {
  const { formatMessages } = await import('../src/policy/messages.js')
  const { shown, sources } = checked
  const { columns } = process.stdout
  const color = wantsColor(process.stdout, process.env)
  const first = shown[0]
  const summary = await summaryLine(checked, strict)
  if (first === undefined) return summary
  const hint = `for more about a code: forbear explain --code ${first.code}\n`
  return `${formatMessages(shown, { sources, color, columns })}\n\n${summary}${hint}`
}

async function github(checked: Checked, strict: boolean): Promise<string> {
  const { githubCommands } = await import('../src/policy/check-github.js')
  return githubCommands(checked.messages, checked.sources, process.cwd()) + (await summaryLine(checked, strict))
}

async function summaryLine(checked: Checked, strict: boolean): Promise<string> {
  const { summaryOf } = await import('../src/policy/check.js')
  return `${summaryOf(checked, strict)}\n`
}
