/** For scripts that run in a network namespace of their own: the built command there, upstreams, and a shell. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../../dist/cmd/forbear.js', import.meta.url))

export const SIDECAR_PORT = 15080
const HEALTH_PORT = 15082

const folder = mkdtempSync(join(tmpdir(), 'forbear-ns-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
/** Whatever hangs, no process is left behind. */
setTimeout(() => process.exit(1), 30_000).unref()

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

export function sh(command) {
  return execFileSync('sh', ['-ec', command], { encoding: 'utf8' })
}

/** An upstream that says which it is and what it was sent. */
export async function upstream(name, port, host = '127.0.0.1') {
  const server = createServer((req, res) => res.end(`${name} ${req.method} ${req.url} for ${req.headers.host}`))
  server.listen(port, host)
  await once(server, 'listening')
}

/** Names that this namespace knows. */
export function hosts(text) {
  const file = join(folder, 'hosts')
  writeFileSync(file, text)
  sh(`mount --bind ${file} /etc/hosts`)
}

/** A ready sidecar; `documents` are `name: spec` pairs. */
export async function sidecar(documents, args = []) {
  const dir = join(folder, 'policies')
  mkdirSync(dir)
  const head = { apiVersion: 'forbear.dev/v1alpha1', kind: 'Upstream' }
  const text = Object.entries(documents).map(([name, spec]) => JSON.stringify({ ...head, metadata: { name }, spec }))
  writeFileSync(join(dir, 'policies.yaml'), text.join('\n---\n'))
  const child = spawn(process.execPath, [CLI, 'run', '--policies', dir, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let log = ''
  child.stdout.on('data', chunk => {
    log += chunk
  })
  process.on('exit', () => child.kill('SIGKILL'))
  for (let n = 0; n < 300; n++) {
    const ready = await get({ port: HEALTH_PORT, path: '/readyz' }).catch(() => null)
    if (ready?.status === 200) return { requestLines: count => requestLines(() => log, count) }
    await pause(50)
  }
  throw new Error(`the sidecar was not ready:\n${log}`)
}

/** So many lines of the access log, as soon as they are there. */
async function requestLines(log, count) {
  for (let n = 0; n < 100; n++) {
    const whole = log().split('\n').slice(0, -1)
    const lines = whole.map(line => JSON.parse(line)).filter(line => line.msg === 'request')
    if (lines.length >= count) return lines
    await pause(50)
  }
  throw new Error(`no ${count} access lines:\n${log()}`)
}

/** One GET on a connection of its own. */
export async function get(options) {
  const startedMs = performance.now()
  const req = request({ host: '127.0.0.1', agent: false, timeout: 5_000, ...options })
  req.on('timeout', () => req.destroy(new Error('no answer in 5 s')))
  const [res] = await once(req.end(), 'response')
  let text = ''
  for await (const chunk of res) text += chunk
  return { status: res.statusCode, text, ms: performance.now() - startedMs }
}

/** What the test reads. */
export function tell(result) {
  process.stdout.write(JSON.stringify(result))
  process.exit(0)
}
