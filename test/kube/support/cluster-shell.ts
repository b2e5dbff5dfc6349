import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../docs/samples.js'
import { COMMAND, type ShellResult } from '../../docs/shell.js'
import type { Tool } from './tools.js'

const SHIM = fileURLToPath(new URL('cluster-shim.mjs', import.meta.url))
/** Whatever cluster the machine knows of is none of the tests' business. */
const NOWHERE = `
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{ name: nowhere, context: { cluster: nowhere } }]
clusters: [{ name: nowhere, cluster: { server: "http://127.0.0.1:9" } }]
`

export interface ClusterShell {
  run(script: string): ShellResult
  /** All manifests that were applied so far. */
  applied(): string
}

/** A shell in `directory`, which has this repository's `deploy` and `policies`, with forbear, kubectl and Helm on its path. */
export function clusterShell(directory: string, kubectl: Tool, helm: Tool): ClusterShell {
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  for (const folder of ['deploy', 'policies']) symlinkSync(join(ROOT, folder), join(directory, folder))
  const commands = { forbear: [COMMAND], kubectl: [SHIM, 'kubectl'], helm: [SHIM, 'helm'] }
  for (const [name, command] of Object.entries(commands)) {
    const path = join(bin, name)
    const quoted = [process.execPath, ...command].map(part => `"${part}"`).join(' ')
    writeFileSync(path, `#!/bin/sh\nexec ${quoted} "$@"\n`)
    chmodSync(path, 0o755)
  }
  const applied = join(directory, 'applied.yaml')
  const kubeconfig = join(directory, 'kubeconfig')
  writeFileSync(kubeconfig, NOWHERE)
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: directory,
    KUBECONFIG: kubeconfig,
    FORBEAR_APPLIED: applied,
    FORBEAR_REAL_KUBECTL: kubectl.path,
    FORBEAR_REAL_HELM: helm.path,
  }
  return {
    run: script => {
      const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
        cwd: directory,
        env,
        encoding: 'utf8',
      })
      return { code: status, output: stdout + stderr }
    },
    applied: () => (existsSync(applied) ? readFileSync(applied, 'utf8') : ''),
  }
}
