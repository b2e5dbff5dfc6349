// One pod: a network of its own with loopback and the pod's address, its volumes mounted read-only, and the processes of
// its containers. Does what it is told over IPC and ends with whoever told it.
// unshare --map-root-user --net --mount node sandbox.mjs ADDRESS [SOURCE POINT]...
import { spawn, spawnSync } from 'node:child_process'
import { request } from 'node:http'
import { createInterface } from 'node:readline'

const [address] = process.argv.slice(2)
const SET_UP = `ip link set lo up
ip address add "$1/32" dev lo
shift
while [ $# -gt 0 ]; do mount --bind "$1" "$2"; mount -o remount,ro,bind "$2"; shift 2; done`
const { status, stderr } = spawnSync('sh', ['-ec', SET_UP, 'sh', ...process.argv.slice(2)], { encoding: 'utf8' })
if (status !== 0) throw new Error(stderr)

const children = new Map()
const verbs = { start, signal, exec, http }
process.on('message', async ({ id, verb, ...order }) => tell({ id, ...(await verbs[verb](order)) }))
process.once('disconnect', () => {
  for (const child of children.values()) child.kill('SIGKILL')
  process.exit()
})
tell({ event: 'up' })

function start({ name, argv, env }) {
  const child = run(argv, env)
  children.set(name, child)
  for (const stream of ['stdout', 'stderr']) {
    createInterface(child[stream]).on('line', line => tell({ event: 'line', name, stream, line }))
  }
  child.once('close', (code, signal) => {
    children.delete(name)
    tell({ event: 'exit', name, code, signal })
  })
  return { pid: child.pid }
}

function signal({ name, signal }) {
  return { sent: children.get(name)?.kill(signal) ?? false }
}

/** A command in a container, as a hook runs one. */
function exec({ argv, env }) {
  const child = run(argv, env)
  child.stdout.resume()
  child.stderr.resume()
  return new Promise(resolve => child.once('close', code => resolve({ code })))
}

function run([command, ...args], env) {
  return spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

function http({ host = address, port, path, method = 'GET', headers = {} }) {
  return new Promise(resolve => {
    const req = request({ host, port, path, method, headers, agent: false, timeout: 5_000 }, res => {
      let body = ''
      res.setEncoding('utf8').on('data', text => {
        body += text
      })
      res.once('end', () => resolve({ status: res.statusCode, body }))
      res.once('error', error => resolve({ status: 0, body: String(error) }))
    })
    req.once('timeout', () => req.destroy(new Error('timeout')))
    req.once('error', error => resolve({ status: 0, body: error.code ?? String(error) }))
    req.end()
  })
}

function tell(message) {
  if (process.connected) process.send(message)
}
