// Stands in for kubectl and Helm in samples that talk to a cluster: what they would apply is kept in the file
// FORBEAR_APPLIED, all else is tried with the real tool, which is told of a cluster that nobody listens for. It reads
// its flags and names first, so a mistake in them is one here, too. `node cluster-shim.mjs kubectl apply -f FILE`
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'

const [tool, ...args] = process.argv.slice(2)
const NOBODY = /connection refused|was refused|cluster unreachable|cluster reachability/i
/** Of `helm upgrade`, and not of `helm template`. */
const UPGRADE_ONLY = ['--install', '--create-namespace', '--wait', '--atomic', '--reset-then-reuse-values']

function real(name, given) {
  const path = process.env[`FORBEAR_REAL_${name.toUpperCase()}`]
  const stdio = ['inherit', 'pipe', 'pipe']
  const { status, stdout, stderr } = spawnSync(path, given, { stdio, encoding: 'utf8', maxBuffer: 1 << 26 })
  return { status: status ?? 1, stdout, stderr }
}

/** Manifests, or how it failed. */
function applied() {
  if (tool === 'helm' && args[0] === 'upgrade') {
    return real('helm', ['template', ...args.slice(1).filter(arg => !UPGRADE_ONLY.includes(arg))])
  }
  if (tool === 'kubectl' && args[0] === 'apply') {
    const folder = valueOf('-k')
    if (folder !== undefined) return real('kubectl', ['kustomize', folder])
    const files = args.flatMap((arg, index) => (args[index - 1] === '-f' ? [arg] : []))
    const stdout = files.map(file => readFileSync(file === '-' ? 0 : file, 'utf8')).join('\n---\n')
    return { status: stdout.trim() === '' ? 1 : 0, stdout, stderr: 'nothing to apply\n' }
  }
  return undefined
}

function valueOf(flag) {
  const at = args.indexOf(flag)
  return at === -1 ? undefined : args[at + 1]
}

const manifests = applied()
if (manifests?.status === 0) {
  appendFileSync(process.env.FORBEAR_APPLIED, `\n---\n${manifests.stdout}`)
} else {
  const { status, stdout, stderr } = manifests ?? real(tool, args)
  process.stdout.write(stdout)
  const isFine = status === 0 || (manifests === undefined && NOBODY.test(stderr))
  if (!isFine) process.stderr.write(stderr)
  process.exitCode = isFine ? 0 : status
}
