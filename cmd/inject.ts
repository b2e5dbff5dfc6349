import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseKubeVersion } from '../src/kube/inject/form.js'
import type { InjectOptions } from '../src/kube/inject/types.js'
import { changeManifests } from './manifests.js'

type InjectFlags = Pick<
  InjectOptions,
  | 'policyConfigMap'
  | 'upstreams'
  | 'native'
  | 'kubeVersion'
  | 'httpProxy'
  | 'position'
  | 'allowHostNetwork'
  | 'quitEndpoint'
> & { readonly image?: string; readonly policyConfigmap?: string }

export function registerInject(program: Command): void {
  program
    .command('inject')
    .description('add the sidecar to the pods of manifests')
    .argument('[file...]', 'manifests, YAML or JSON; - is standard input', ['-'])
    .option(
      '--policy-configmap <name>',
      'ConfigMap with the policies, in the namespace of the pod (default: forbear-policies)',
    )
    .option('--upstreams <list>', 'upstreams whose addresses the app gets, such as payments=9101,ledger')
    .option('--image <image>', 'image of the sidecar (default: forbear of this version)')
    .addOption(
      new Option('--native <choice>', 'as an init container that runs on (Kubernetes 1.29)')
        .choices(['auto', 'true', 'false'])
        .default('auto'),
    )
    .addOption(new Option('--kube-version <version>', 'of the oldest node, such as 1.27').argParser(kubeVersion))
    .option('--http-proxy', 'also set HTTP_PROXY and NO_PROXY in the app', false)
    .addOption(
      new Option('--position <where>', 'among the init containers').choices(['first', 'last']).default('first'),
    )
    .option('--quit-endpoint', 'let a Job take the classic form: its app promises to call $FORBEAR_QUIT_URL', false)
    .option('--allow-host-network', 'also on the network of the node, there on 127.0.0.1 only', false)
    .addHelpText('after', HELP)
    .action(async (files: string[], { image, policyConfigmap, ...flags }: InjectFlags) => {
      const options: InjectOptions = {
        ...flags,
        image: image ?? `forbear:${program.version() ?? 'latest'}`,
        ...(policyConfigmap === undefined ? {} : { policyConfigMap: policyConfigmap }),
      }
      const { injectManifest } = await import('../src/kube/manifest/inject-manifest.js')
      process.exitCode = await changeManifests(files, (text, file) => injectManifest(text, file, options))
    })
}

const HELP = `
Pods, Deployments, StatefulSets, DaemonSets, ReplicaSets, ReplicationControllers, Jobs, CronJobs and
lists of them are changed, unless their label forbear.dev/inject is "false"; all else stays as it is,
byte by byte. Annotations forbear.dev/... of a pod win over the flags. The default is a native sidecar,
which needs Kubernetes 1.29; --kube-version 1.27 or --native=false gives the classic form.
Exits 0 if all went well, 1 if something cannot be injected, 2 if a file cannot be read. Unless all
went well nothing is written to standard output.

Examples:
  $ forbear inject --upstreams payments=9101 deployment.yaml | kubectl apply -f -
  $ helm template shop | forbear inject - > injected.yaml`

function kubeVersion(text: string): string {
  if (parseKubeVersion(text) === null) throw new InvalidArgumentError('write a version such as 1.29.')
  return text
}
