// Starts the built command, or the file named (dist/forbear.mjs), on the Node that runs this file, sends one request
// through it and stops it. Exits 1 with the reason when the answer is wrong, when anything is warned about, or when it does
// not end with 0 on SIGTERM.
// Needs `npm run build`. Plain JavaScript, so that it runs on any Node without a loader.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const LIMIT_MS = 30_000
const COMMAND = process.argv[2] ?? fileURLToPath(new URL('../../dist/cmd/forbear.js', import.meta.url))

const directory = await mkdtemp(join(tmpdir(), 'forbear-smoke-'))
const upstream = createServer((request, response) => response.end(`seen ${request.url}`))
let sidecar
try {
  const target = await listen(upstream)
  await writeFile(join(directory, 'hello.yaml'), policy(target))
  const [shared, admin, health] = await Promise.all([freePort(), freePort(), freePort()])
  sidecar = start(shared, admin, health)
  await until(async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok)
  const response = await fetch(`http://127.0.0.1:${shared}/hello/orders/1?x=y`)
  expect('status', response.status, 200)
  expect('body', await response.text(), 'seen /orders/1?x=y')
  expect('forbear-attempts', response.headers.get('forbear-attempts'), '1')
  expect('forbear-outcome', response.headers.get('forbear-outcome'), 'delivered')
  sidecar.child.kill('SIGTERM')
  expect('exit code', await sidecar.exit, 0)
  expect('warnings', sidecar.output().match(/^.*Warning:.*$/m)?.[0] ?? 'none', 'none')
  console.log(`forbear answered on Node ${process.version}`)
} catch (error) {
  console.error(`On Node ${process.version}: ${error.message}\n${sidecar?.output() ?? ''}`)
  process.exitCode = 1
} finally {
  sidecar?.child.kill('SIGKILL')
  upstream.close()
  upstream.closeAllConnections()
  await rm(directory, { recursive: true })
}

function policy(port) {
  return `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: hello }
spec: { target: "http://127.0.0.1:${port}" }
`
}

function start(shared, admin, health) {
  const at = port => `127.0.0.1:${port}`
  const flags = ['--listen', at(shared), '--admin', at(admin), '--health', at(health), '--drain-period', '2s']
  const child = spawn(process.execPath, [COMMAND, 'run', '--policies', directory, ...flags])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const exit = once(child, 'exit').then(([code, signal]) => code ?? signal)
  return { child, exit: Promise.race([exit, sleep(LIMIT_MS, 'still running', { ref: false })]), output: () => output }
}

async function until(ready) {
  const end = Date.now() + LIMIT_MS
  while (!(await ready().catch(() => false))) {
    if (Date.now() > end) throw new Error(`not ready within ${LIMIT_MS} ms`)
    if (sidecar.child.exitCode !== null) throw new Error(`exited with ${sidecar.child.exitCode} before it was ready`)
    await sleep(20)
  }
}

async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

async function freePort() {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}

function expect(what, got, wanted) {
  if (got !== wanted) throw new Error(`${what} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`)
}
