/** What is left to do by hand with new certificates, as commands to paste. */
import { type CertificateSet, caBundleOf } from './bundle.js'

/** Configuration → names of its webhooks, as in deploy/webhook. */
const CONFIGURATIONS = {
  mutatingwebhookconfiguration: ['namespace.inject.forbear.dev', 'pod.inject.forbear.dev'],
  validatingwebhookconfiguration: ['policy.check.forbear.dev'],
} as const
const CONFIGURATION_NAME = 'forbear-webhook'

/** `kubectl patch` commands that hand the bundle to the API servers. */
export function caBundleCommands(set: Pick<CertificateSet, 'ca.crt'>): string {
  const caBundle = caBundleOf(set)
  return Object.entries(CONFIGURATIONS)
    .map(([kind, names]) => {
      const patch = { webhooks: names.map(name => ({ name, clientConfig: { caBundle } })) }
      return `kubectl patch ${kind} ${CONFIGURATION_NAME} -p '${JSON.stringify(patch)}'\n`
    })
    .join('')
}

export interface Place {
  readonly dir: string
  readonly secret: string
  readonly namespace: string
}

/** Comments and commands: a shell can run all of it. */
export function stepsForDirectory(set: CertificateSet, { dir, secret, namespace }: Place): string {
  const files = ['ca.crt', 'tls.crt', 'tls.key'].map(file => `--from-file=${quoted(`${dir}/${file}`)}`).join(' ')
  const create = `kubectl create secret generic ${secret} -n ${namespace} --type=kubernetes.io/tls ${files}`
  return `# First what API servers trust, then what they are shown:
${caBundleCommands(set)}${create} --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -
`
}

/** For a Secret that stands on standard output. */
export function stepsForSecret(set: CertificateSet): string {
  return `# First what API servers trust, then the Secret (kubectl apply --server-side -f -):
${caBundleCommands(set)}`
}

function quoted(text: string): string {
  return /^[\w./@%+=:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
