import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './processes.mjs'

const COMMAND = fileURLToPath(new URL('../../dist/cmd/forbear.js', import.meta.url))

/** Nothing switched off: the built-in retry, budget, breaker and limits are on, and the metrics always are. */
const policy = (name, targetPort) => `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: ${name} }
spec: { target: "http://127.0.0.1:${targetPort}" }
`

/** How to start forbear in front of a port: arguments for node, the port of its health and a directory of its own. */
export async function forbearSide(port, targetPort, flags) {
  const directory = mkdtempSync(join(tmpdir(), 'forbear-bench-'))
  writeFileSync(join(directory, 'bench.yaml'), policy('bench', targetPort))
  const [admin, health] = [await freePort(), await freePort()]
  const at = number => `127.0.0.1:${number}`
  const ports = ['--listen', at(port), '--admin', at(admin), '--health', at(health)]
  return { args: [COMMAND, 'run', '--policies', directory, ...ports, ...flags], health, directory }
}
