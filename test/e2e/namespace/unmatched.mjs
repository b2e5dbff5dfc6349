/** A host that nobody declared, on another host: tunnelled to by its address and by its name, but not as link-local. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { get, hosts, SIDECAR_PORT, sh, sidecar, tell } from './town.mjs'

const script = fileURLToPath(new URL('./peer.mjs', import.meta.url))
const peer = spawn('unshare', ['-n', process.execPath, script], { stdio: ['pipe', 'pipe', 'inherit'] })
await once(peer.stdout, 'data')
const there = `nsenter -t ${peer.pid} -n`
sh('ip link set lo up')
sh(`ip link add wire type veth peer name far netns ${peer.pid}`)
sh('ip addr add 192.0.2.1/24 dev wire && ip addr add 169.254.7.1/16 dev wire && ip link set wire up')
sh(
  `${there} ip addr add 192.0.2.80/24 dev far && ${there} ip addr add 169.254.169.254/16 dev far && ${there} ip link set far up`,
)
hosts('192.0.2.80 peer.test\n169.254.169.254 trap.test\n192.0.2.1 self.test\n')
const { requestLines } = await sidecar({ declared: { target: 'http://169.254.169.254:8443' } }, [
  '--unmatched',
  'tunnel',
])

async function through(authority) {
  const options = { host: '127.0.0.1', port: SIDECAR_PORT, method: 'CONNECT', path: authority, agent: false }
  const [res, socket] = await once(request(options).end(), 'connect')
  if (res.statusCode !== 200) return String(res.statusCode)
  const { text } = await get({ agent: undefined, createConnection: () => socket, path: '/x', headers: { Host: 'h' } })
  return text
}

const tried = ['192.0.2.80', 'peer.test', '169.254.169.254', 'trap.test', 'self.test', '[::ffff:192.0.2.80]']
const answers = {}
answers.nearby = await get({ host: '169.254.169.254', port: 8443, path: '/' }).then(answer => answer.text)
for (const host of tried) answers[host] = await through(`${host}:8443`)
// Where it is declared, even a link-local address is called.
answers.other = await through('192.0.2.80:8444')
tell({ answers, lines: await requestLines(7) })
