// Ten replicas, each a process, behind a balancer that gives connections, or single requests, to them in turn; half way one
// of them is killed, or answers 503 from then on. `node replicas.mjs [--rate 2000] [--seconds 10] [--balancing request]
// [--fault sick]`; see README.md; exits 1 when a GET is lost, with a sick one more than 0.5 %, or the breaker opens.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Agent, createServer as createHttp, get, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { forbearSide } from './forbear-side.mjs'
import { cpuMs, freePort, pinned, rssMiB, SIDE_CORE, start, stop, untilReady } from './processes.mjs'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '10' },
    balancing: { type: 'string', default: 'connection' },
    fault: { type: 'string', default: 'killed' },
  },
})
const [rate, seconds] = [Number(values.rate), Number(values.seconds)]
/** SIGUSR2 makes it sick. */
const REPLICA = `let status = 200
process.on('SIGUSR2', () => { status = 503 })
require('node:http').createServer({ keepAliveTimeout: 60000 }, (_, response) =>
  setTimeout(() => response.writeHead(status).end('x'.repeat(1024)), 5)).listen(Number(process.argv[1]), '127.0.0.1')`
const ports = []
for (let n = 0; n < 10; n++) ports.push(await freePort())
const replicas = ports.map(port => spawn(process.execPath, ['-e', REPLICA, String(port)], { stdio: 'inherit' }))
const agents = new Map(ports.map(to => [to, new Agent({ keepAlive: true, maxSockets: 64 })]))
const balancer =
  values.balancing === 'connection'
    ? createServer({ noDelay: true }, join).listen(0, '127.0.0.1')
    : createHttp({ keepAliveTimeout: 60_000 }, pass).listen(0, '127.0.0.1')
await once(balancer, 'listening')
const endpoints = [...ports]
let turn = 0

const port = await freePort()
const { args, health, directory } = await forbearSide(port, balancer.address().port, ['--access-log', 'off'])
const sidecar = start(SIDE_CORE, process.execPath, args)
try {
  for (const [n, child] of replicas.entries()) await untilReady(`http://127.0.0.1:${ports[n]}/`, child)
  await untilReady(`http://127.0.0.1:${health}/readyz`, sidecar)
  const results = await load()
  const metrics = await (await fetch(`http://127.0.0.1:${health}/metrics`)).text()
  report(results, metrics)
} finally {
  for (const child of [...replicas, sidecar]) await stop(child)
  rmSync(directory, { recursive: true, force: true })
}
process.exit()

function join(client) {
  const replica = connect({ port: endpoints[turn++ % endpoints.length], host: '127.0.0.1', noDelay: true })
  client.pipe(replica).pipe(client)
  client.on('error', () => {}).on('close', () => replica.destroy())
  replica.on('error', () => client.resetAndDestroy()).on('close', () => client.destroy())
}

/** As an ingress: each request to the next replica; one that cannot be reached is a 503. */
function pass(from, answer) {
  const to = endpoints[turn++ % endpoints.length]
  const onward = request({ port: to, host: '127.0.0.1', path: from.url, agent: agents.get(to) }, response => {
    answer.writeHead(response.statusCode, { 'content-length': response.headers['content-length'] ?? 0 })
    response.on('error', () => answer.destroy()).pipe(answer)
  })
  onward.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(503).end()))
  onward.end()
}

/** Open loop: calls leave at their instants whether or not earlier ones have come back. */
async function load() {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 })
  const startMs = performance.now()
  const calls = []
  setTimeout(() => replicas[7].kill(values.fault === 'sick' ? 'SIGUSR2' : 'SIGKILL'), seconds * 500)
  // For a second the balancer still gives connections to the dead.
  if (values.fault !== 'sick') setTimeout(() => endpoints.splice(7, 1), seconds * 500 + 1000)
  while (calls.length < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - startMs) * rate) / 1000)
    while (calls.length < due) calls.push(one(agent))
    await sleep(1)
  }
  return Promise.all(calls)
}

function one(agent) {
  const startMs = performance.now()
  return new Promise(resolve => {
    const done = what => resolve({ what, ms: performance.now() - startMs })
    const request = get({ port, host: '127.0.0.1', path: '/bench/x', agent }, response => {
      response.on('error', error => done(String(error))).on('end', () => done(verdict(response)))
      response.resume()
    })
    request.on('error', error => done(String(error)))
  })
}

function verdict({ statusCode, headers }) {
  if (statusCode === 200) return statusCode
  return `${statusCode} ${headers['forbear-outcome']} after ${headers['forbear-attempts']}`
}

function report(results, metrics) {
  const of = name =>
    [...metrics.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce((sum, [, n]) => sum + Number(n), 0)
  const ms = results.map(result => result.ms).sort((a, b) => a - b)
  // The first second is the start of everything.
  const warm = results
    .slice(rate)
    .map(result => result.ms)
    .sort((a, b) => a - b)
  const lost = results.filter(result => result.what !== 200)
  const opened = of('forbear_breaker_transitions_total')
  console.log(
    `Node ${process.version}, ${rate} requests/s for ${seconds} s, one of ten replicas ${values.fault} half way, a replica for each ${values.balancing}`,
  )
  console.log(pinned ? `forbear alone on core ${SIDE_CORE}` : 'not pinned: the figures are rough')
  console.table({
    requests: results.length,
    lost: lost.length,
    attempts: of('forbear_attempts_total'),
    'breaker transitions': opened,
    'p50 ms': Number(ms[ms.length >> 1].toFixed(1)),
    'p99 ms': Number(ms[Math.floor(ms.length * 0.99)].toFixed(1)),
    'p99 ms, first second left out': Number(warm[Math.floor(warm.length * 0.99)].toFixed(1)),
    'CPU µs/request': Math.round((cpuMs(sidecar.pid) * 1000) / results.length),
    'RSS MiB': Math.round(rssMiB(sidecar.pid)),
  })
  for (const { what } of lost.slice(0, 5)) console.log(what)
  const bearable = values.fault === 'sick' ? 0.005 * results.length : 0
  if (lost.length > bearable || opened > 0) process.exitCode = 1
}
