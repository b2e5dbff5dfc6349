import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Said } from '../src/kube/certs/certs.js'
import { EXIT } from './exit-codes.js'

interface CertsFlags {
  readonly namespace?: string
  readonly service: string
  readonly dir?: string
  readonly output?: 'yaml'
  readonly secret?: string
  readonly secretName: string
  readonly days: number
}

export function registerCerts(program: Command): void {
  const certs = program
    .command('certs')
    .description('make the certificates of the webhook, where cert-manager does not')
    .addHelpText('after', HELP)
  certs.exitOverride()
  withTarget(certs.command('init'))
    .description('a first authority and certificate')
    .option('--service <name>', 'of the webhook', 'forbear-webhook')
    .addOption(new Option('--output <form>', 'a Secret on standard output').choices(['yaml']).conflicts('dir'))
    .addHelpText('after', HELP)
    .action(async (flags: CertsFlags, command: Command) => {
      process.exitCode = await init(flags, command)
    })
  withTarget(certs.command('rotate'))
    .description('a new authority and certificate of the same names; the old authority stays trusted')
    .addOption(
      new Option('--secret <file>', 'the Secret as it is, - is standard input; the new one is printed').conflicts(
        'dir',
      ),
    )
    .addHelpText('after', HELP)
    .action(async (flags: CertsFlags, command: Command) => {
      process.exitCode = await rotate(flags, command)
    })
}

function withTarget(command: Command): Command {
  return command
    .exitOverride()
    .showHelpAfterError('Run with --help for an example.')
    .option('--namespace <name>', 'of the webhook')
    .option('--dir <dir>', 'directory for tls.crt, tls.key and ca.crt')
    .option('--secret-name <name>', 'of the Secret', 'forbear-webhook-tls')
    .addOption(new Option('--days <number>', 'how long the certificate is valid').argParser(days).default(365))
}

const HELP = `
The private key of the authority is kept nowhere: each rotation makes a new authority, and API servers trust the old one
beside it. What is left to do is printed as kubectl commands.

Examples:
  $ forbear certs init --namespace forbear-system --output yaml | kubectl apply --server-side -f -
  $ forbear certs init --namespace forbear-system --dir ./certs
  $ forbear certs rotate --namespace forbear-system --dir ./certs
  $ kubectl get secret forbear-webhook-tls -n forbear-system -o yaml | forbear certs rotate --secret -`

function days(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (number < 1) throw new InvalidArgumentError('write a whole number from 1, such as 365.')
  return number
}

async function init(
  { dir, output, service, secretName, days, ...flags }: CertsFlags,
  command: Command,
): Promise<number> {
  if (dir === undefined && output === undefined) command.error('error: either --dir <dir> or --output yaml is needed')
  const namespace = await label(command, '--namespace', flags.namespace)
  await label(command, '--service', service)
  const { initCertificates } = await import('../src/kube/certs/certs.js')
  return tell(() => initCertificates({ dir: dir ?? null, namespace, service, secretName, days }, Date.now()))
}

async function rotate({ dir, secret, secretName, days, ...flags }: CertsFlags, command: Command): Promise<number> {
  const { rotateDirectory, rotateSecret, readSecretFile } = await import('../src/kube/certs/certs.js')
  if (dir !== undefined) {
    const namespace = await label(command, '--namespace', flags.namespace)
    return tell(() => rotateDirectory({ dir, namespace, secretName, days }, Date.now()))
  }
  if (secret === undefined) command.error('error: either --dir <dir> or --secret <file> is needed')
  return tell(async () =>
    rotateSecret(secret === '-' ? await readStdin() : await readSecretFile(secret), days, Date.now()),
  )
}

async function label(command: Command, flag: string, value: string | undefined): Promise<string> {
  const { isDnsLabel } = await import('../src/kube/certs/certs.js')
  if (value === undefined) command.error(`error: required option '${flag} <name>' not specified`)
  if (!isDnsLabel(value)) command.error(`error: ${flag} ${value} is no name of Kubernetes: lower case, digits and -`)
  return value
}

async function tell(make: () => Promise<Said>): Promise<number> {
  const { CertsError } = await import('../src/kube/certs/certs.js')
  try {
    const { stdout, stderr } = await make()
    process.stderr.write(stderr)
    process.stdout.write(stdout)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof CertsError)) throw error
    process.stderr.write(`forbear: ${error.message}\n`)
    return EXIT.problems
  }
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
