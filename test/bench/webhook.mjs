// How long 200 reviews take that reach the admission webhook at the same moment, as pods of a rollout do, on connections
// that are kept. The client writes what it has made before and looks at nothing but the length of the answer.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { freePort, LOAD_CORE, pinned, SIDE_CORE, start, stop, untilReady } from './processes.mjs'

const { values: flags } = parseArgs({
  options: { parallel: { type: 'string', default: '200' }, rounds: { type: 'string', default: '60' } },
})
const COMMAND = fileURLToPath(new URL('../../dist/cmd/forbear.js', import.meta.url))
/** The first answers come from code that is not compiled yet. */
const WARM_ROUNDS = 20
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'shop-1',
    labels: { app: 'shop', 'forbear.dev/inject': 'true' },
    annotations: { 'forbear.dev/upstreams': 'payments=9101,ledger' },
  },
  spec: { containers: [{ name: 'shop', image: 'shop:1', env: [{ name: 'PORT', value: '8080' }] }] },
}

if (pinned) spawnSync('taskset', ['-pc', String(LOAD_CORE), String(process.pid)])
const dir = mkdtempSync(join(tmpdir(), 'forbear-webhook-'))
execFileSync(process.execPath, [COMMAND, 'certs', 'init', '--namespace', 'bench', '--dir', dir], { stdio: 'ignore' })
const [port, health] = [await freePort(), await freePort()]
const listeners = ['--listen', `127.0.0.1:${port}`, '--health', `127.0.0.1:${health}`, '--log-level', 'warn']
const webhook = start(SIDE_CORE, process.execPath, [COMMAND, 'webhook', '--certs', dir, '--image', 'x:1', ...listeners])
try {
  await untilReady(`http://127.0.0.1:${health}/readyz`, webhook, 50)
  const sockets = await Promise.all(Array.from({ length: Number(flags.parallel) }, opened))
  const took = []
  for (let round = 0; round < WARM_ROUNDS + Number(flags.rounds); round++) {
    const tookMs = await Promise.all(sockets.map(review))
    if (round >= WARM_ROUNDS) took.push(...tookMs)
    await sleep(50)
  }
  for (const socket of sockets) socket.destroy()
  took.sort((a, b) => a - b)
  const at = share => took[Math.ceil(share * took.length) - 1].toFixed(1)
  console.log(`${flags.parallel} reviews at once, ${flags.rounds} times: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
} finally {
  await stop(webhook)
  rmSync(dir, { recursive: true, force: true })
}

async function opened() {
  const ca = readFileSync(join(dir, 'ca.crt'))
  const socket = connect({ port, host: '127.0.0.1', ca, servername: 'forbear-webhook.bench.svc' })
  await once(socket, 'secureConnect')
  return socket
}

/** ms until the whole answer is there. */
function review(socket, n) {
  const request = { uid: `uid-${n}`, kind: { group: '', version: 'v1', kind: 'Pod' }, operation: 'CREATE', object: POD }
  const resource = { group: '', version: 'v1', resource: 'pods' }
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { ...request, resource } }
  const body = JSON.stringify({ ...review, request: { ...review.request, namespace: 'shop', userInfo: {} } })
  const fields = `Host: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  return new Promise((resolve, reject) => {
    const sentMs = performance.now()
    let text = ''
    const onData = chunk => {
      text += chunk
      const [, head, length] = /^(HTTP\/1\.1 200 [\s\S]*?content-length: (\d+)[\s\S]*?\r\n\r\n)/i.exec(text) ?? []
      if (head === undefined || text.length < head.length + Number(length)) return
      socket.off('data', onData)
      if (text.includes('"patch"')) resolve(performance.now() - sentMs)
      else reject(new Error(text))
    }
    socket.on('data', onData)
    socket.write(`POST /mutate?timeout=5s HTTP/1.1\r\n${fields}${body}`)
  })
}
