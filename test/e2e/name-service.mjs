// Run inside a network and a mount namespace of its own, where the only name server is this one: calls through forbear to
// names that are served at once, slowly, never, or differently later. Prints one JSON line.
// `node name-service.mjs [long]`; long = also what happens when an answer has grown old, which takes 35 s.
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, start, untilReady } from '../bench/processes.mjs'

const long = process.argv[2] === 'long'
const PORT = 8080
const COMMAND = fileURLToPath(new URL('../../dist/cmd/forbear.js', import.meta.url))
/** What each name is answered with: an address after so many ms, a refusal, or nothing. */
const names = {
  'good.test': { address: '127.0.0.2', afterMs: 0 },
  'slow.test': { address: '127.0.0.2', afterMs: 1_200 },
  'moving.test': { address: '127.0.0.3', afterMs: 0 },
  'failing.test': { address: '127.0.0.2', afterMs: 0 },
}
for (let n = 1; n <= 4; n++) names[`dead${n}.test`] = null

const directory = mkdtempSync(join(tmpdir(), 'forbear-names-'))
const policies = join(directory, 'policies')
execFileSync('mkdir', [policies])
execFileSync('ip', ['link', 'set', 'lo', 'up'])
writeFileSync(join(directory, 'resolv.conf'), 'nameserver 127.0.0.1\noptions attempts:5 timeout:5\n')
execFileSync('mount', ['--bind', join(directory, 'resolv.conf'), '/etc/resolv.conf'])
const document = name => `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: ${name} }
spec: { target: "http://${name}.test:${PORT}", pool: { maxAge: 1s }, retry: { maxAttempts: 1 } }
`
const policy = Object.keys(names).map(name => document(name.replace('.test', '')))
writeFileSync(join(policies, 'names.yaml'), policy.join('---\n'))

const dns = createSocket('udp4')
dns.on('message', (query, from) => void answer(query, from))
dns.bind(53, '127.0.0.1')
const servers = ['127.0.0.2', '127.0.0.3', '127.0.0.4'].map(host =>
  createServer((_request, response) => response.end(host)).listen(PORT, host),
)
await Promise.all(servers.map(server => once(server, 'listening')))
const [port, admin, health] = [await freePort(), await freePort(), await freePort()]
const at = number => `127.0.0.1:${number}`
const ports = ['--listen', at(port), '--admin', at(admin), '--health', at(health)]
const args = [COMMAND, 'run', '--policies', policies, ...ports, '--access-log', 'off']
const sidecar = start(0, process.execPath, args, ['ignore', 'ignore', 'inherit'])
try {
  await untilReady(`http://${at(health)}/readyz`, sidecar)
  const order = []
  const call = async name => {
    const got = await ask(name)
    order.push(name)
    return got
  }
  const dead = [1, 2, 3, 4].map(n => call(`dead${n}`))
  await sleep(50)
  const [good, slow] = await Promise.all([call('good'), call('slow')])
  const result = { good, slow, dead: await Promise.all(dead), order }
  if (long) Object.assign(result, await later())
  console.log(JSON.stringify({ ...result, exit: sidecar.exitCode }))
} finally {
  sidecar.kill('SIGKILL')
  dns.close()
  for (const server of servers) server.close()
  for (const server of servers) server.closeAllConnections()
  rmSync(directory, { recursive: true, force: true })
}

/** An answer is fresh for 30 s; the first call after that uses it once more and has it refreshed. */
async function later() {
  const before = [await ask('moving'), await ask('failing')]
  names['moving.test'] = { address: '127.0.0.4', afterMs: 0 }
  names['failing.test'] = 'refused'
  await sleep(31_000)
  for (const name of ['moving', 'failing']) await ask(name)
  await sleep(2_500)
  return { before, after: [await ask('moving'), await ask('failing')] }
}

async function answer(query, from) {
  let end = 12
  const labels = []
  for (let length = query[end]; length > 0; length = query[end]) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length))
    end += 1 + length
  }
  const record = names[labels.join('.').toLowerCase()]
  if (record === null) return
  const isA = query.readUInt16BE(end + 1) === 1
  const head = Buffer.from(query.subarray(0, end + 5))
  head.writeUInt16BE(record === 'refused' ? 0x8182 : record === undefined ? 0x8183 : 0x8180, 2)
  const address =
    isA && record?.address ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...record.address.split('.').map(Number)] : []
  head.writeUInt16BE(address.length > 0 ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  if (record?.afterMs > 0) await sleep(record.afterMs)
  dns.send(Buffer.concat([head, Buffer.from(address)]), from.port, from.address)
}

/** Status and body, without its JSON if it is forbear's own. */
function ask(name) {
  return new Promise(resolve => {
    const request = get({ port, path: `/${name}/x`, agent: false }, async response => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve(`${response.statusCode} ${text.startsWith('{') ? JSON.parse(text).reason : text}`)
    })
    request.on('error', error => resolve(String(error)))
  })
}
