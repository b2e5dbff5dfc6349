import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { EXIT } from './exit-codes.js'

interface CheckFlags {
  readonly output: 'text' | 'json'
  readonly strict: boolean
}

export function registerCheck(program: Command): void {
  program
    .command('check')
    .description('find every mistake in policy files')
    .argument('<path...>', 'directories, each a set of its own, or files, one set together')
    .addOption(new Option('--output <form>', 'form of the messages').choices(['text', 'json']).default('text'))
    .option('--strict', 'warnings fail too', false)
    .addHelpText('after', '\nExits 0 if all is well, 1 if not.\n\nExample:\n  $ forbear check ./policies')
    .action(async (paths: string[], flags: CheckFlags) => {
      process.exitCode = await check(paths, flags)
    })
}

async function check(paths: string[], { output, strict }: CheckFlags): Promise<number> {
  const [{ checkPaths, summaryOf }, { formatMessages }] = await Promise.all([
    import('../src/policy/check.js'),
    import('../src/policy/messages.js'),
  ])
  const missing = paths.filter(path => !existsSync(path))
  if (missing.length > 0) {
    process.stderr.write(missing.map(path => `forbear: ${path} does not exist\n`).join(''))
    return EXIT.usage
  }
  const { sources, ...report } = checkPaths(paths)
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  } else {
    const color = process.stdout.isTTY === true && !process.env['NO_COLOR']
    const text = report.messages.length > 0 ? `${formatMessages(report.messages, { sources, color })}\n\n` : ''
    process.stdout.write(`${text}${summaryOf(report)}\n`)
  }
  return report.errors > 0 || (strict && report.warnings > 0) ? EXIT.problems : EXIT.ok
}
