import { type Command, InvalidArgumentError } from 'commander'
import { parseKubeVersion } from '../src/kube/inject/form.js'
import { EXIT } from './exit-codes.js'
import { durationMs, flag } from './flags.js'
import { superviseSidecar } from './supervise.js'

interface WebhookFlags {
  readonly certs?: string
  readonly image?: string
  readonly policyConfigmap?: string
  readonly native: 'auto' | 'true' | 'false'
  readonly kubeVersion?: string
  readonly listen: string
  readonly health: string
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  /** ms */
  readonly drainPeriod: number
}

export function registerWebhook(program: Command): void {
  program
    .command('webhook')
    .description('inject the sidecar into new pods and refuse bad edits of policies, as a Kubernetes admission webhook')
    .addOption(flag('--certs <dir>', 'mounted Secret with tls.crt and tls.key (required)'))
    .addOption(flag('--image <name>', 'image of the sidecar (required)'))
    .addOption(flag('--policy-configmap <name>', 'policies of pods that name none by annotation'))
    .addOption(
      flag('--native <when>', 'native sidecars (Kubernetes 1.29)').choices(['auto', 'true', 'false']).default('auto'),
    )
    .addOption(
      flag('--kube-version <version>', 'of the oldest node, such as 1.27; decides --native auto').argParser(
        kubeVersion,
      ),
    )
    .addOption(flag('--listen <host:port>', 'HTTPS for API servers').default('0.0.0.0:8443'))
    .addOption(flag('--health <host:port>', 'plain HTTP for probes and scrapes').default('0.0.0.0:15082'))
    .addOption(
      flag('--log-level <level>', 'least level logged').choices(['debug', 'info', 'warn', 'error']).default('info'),
    )
    .addOption(
      flag('--drain-period <duration>', 'longest time between SIGTERM and exit')
        .argParser(durationMs)
        .default(10_000, '10s'),
    )
    .addHelpText('after', HELP)
    .action(async ({ certs, image, ...flags }: WebhookFlags, command: Command) => {
      if (certs === undefined) command.error("error: required option '--certs <dir>' not specified")
      if (image === undefined) command.error("error: required option '--image <name>' not specified")
      process.exitCode = await webhook({ certs, image, ...flags })
    })
}

const HELP = `
Serves POST /mutate for pods and POST /validate-policy for ConfigMaps. Another certificate in --certs is used without a
restart. Each flag can also be set as FORBEAR_… (FORBEAR_IMAGE=registry.example.com/forbear:1).

Example:
  $ forbear certs init --namespace forbear-system --dir ./certs
  $ forbear webhook --certs ./certs --image registry.example.com/forbear:1`

function kubeVersion(text: string): string {
  if (parseKubeVersion(text) === null) throw new InvalidArgumentError('write a version such as 1.29.')
  return text
}

async function webhook(flags: WebhookFlags & { readonly certs: string; readonly image: string }): Promise<number> {
  const [{ startWebhook }, { BindError }] = await Promise.all([
    import('../src/kube/webhook/webhook.js'),
    import('../src/proxy/bind.js'),
  ])
  const { certs, listen, health, image, native, kubeVersion, policyConfigmap, logLevel, drainPeriod } = flags
  try {
    const running = await startWebhook({
      certs,
      listen,
      health,
      logLevel,
      drainPeriodMs: drainPeriod,
      pretty: process.stdout.isTTY === true,
      inject: {
        image,
        native,
        ...(kubeVersion !== undefined && { kubeVersion }),
        ...(policyConfigmap !== undefined && { policyConfigMap: policyConfigmap }),
      },
    })
    return await superviseSidecar(running)
  } catch (error) {
    if (!(error instanceof BindError)) throw error
    process.stderr.write(`forbear: ${error.message}\n`)
    return EXIT.configuration
  }
}
