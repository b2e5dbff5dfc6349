// Bad days of an upstream on real sockets: an app without retries of its own behind forbear, beside an app that retries
// naively. `node incidents.mjs [--only blip,limit] [--check]`; see README.md; `--check` exits 1 when a goal is missed.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { COMMON, SCENARIOS } from './incidents/scenarios.mjs'
import { freePort, rssMiB, stop, untilReady } from './processes.mjs'

const script = name => fileURLToPath(new URL(name, import.meta.url))
const COMMAND = script('../../dist/cmd/forbear.js')
const UPSTREAM = script('incidents/upstream.mjs')

const { values } = parseArgs({ options: { only: { type: 'string' }, check: { type: 'boolean', default: false } } })
const names = values.only?.split(',') ?? Object.keys(SCENARIOS)
const rows = {}
let missed = 0

for (const name of names) {
  const scenario = SCENARIOS[name]
  console.log(`${name}: ${scenario.tells}`)
  for (const [way, retries] of [
    ['no retries', 0],
    ['fixed 1 s × 5', 5],
  ]) {
    rows[`${name}, ${way}`] = row(await play(scenario, target => ({ port: target, retries, timeoutMs: 1000 })))
  }
  for (const [way, { lines, goals }] of Object.entries(scenario.ways)) {
    const result = await behindForbear(scenario, lines)
    rows[`${name}, forbear ${way}`] = row(result)
    judge(`${name}, forbear ${way}`, result, goals)
  }
}
console.table(rows)
if (values.check && missed > 0) process.exitCode = 1
process.exit()

async function behindForbear(scenario, lines) {
  const directory = mkdtempSync(join(tmpdir(), 'forbear-incident-'))
  const [port, listen, admin, health] = [await freePort(), await freePort(), await freePort(), await freePort()]
  let child
  try {
    return await play(scenario, async target => {
      const spec = `  target: http://127.0.0.1:${target}\n  listen: 127.0.0.1:${port}\n${COMMON}${lines}`
      const head = 'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: day }\nspec:\n'
      writeFileSync(join(directory, 'day.yaml'), head + spec)
      const at = number => `127.0.0.1:${number}`
      const ports = ['--listen', at(listen), '--admin', at(admin), '--health', at(health)]
      const args = ['run', '--policies', directory, '--access-log', 'off', ...ports]
      child = fork(COMMAND, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
      await untilReady(`http://127.0.0.1:${health}/readyz`, child)
      return { port, retries: 0, timeoutMs: 25_000, pid: child.pid }
    })
  } finally {
    if (child !== undefined) await stop(child)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** One day, met in one way. */
async function play({ upstream: model, phases }, open) {
  const target = await freePort()
  const upstream = fork(UPSTREAM, [String(target), JSON.stringify(model)])
  try {
    await once(upstream, 'message')
    const way = await open(target)
    const agent = new Agent({ keepAlive: true, maxSockets: 2048 })
    // The day begins warm: connections are there, code is compiled.
    await Promise.all(Array.from({ length: 50 }, () => call(agent, way)))
    upstream.send('start')
    const calls = await offer(phases, () => withRetries(agent, way))
    upstream.send('tell')
    const [seen] = await once(upstream, 'message')
    agent.destroy()
    return figures(calls, seen, phases, way.pid === undefined ? null : rssMiB(way.pid))
  } finally {
    await stop(upstream)
  }
}

/** Each call at its instant. */
async function offer(phases, send) {
  const calls = []
  for (const [perSecond, seconds] of phases) {
    const [startMs, before] = [performance.now(), calls.length]
    while (calls.length - before < perSecond * seconds) {
      const due = Math.min(perSecond * seconds, ((performance.now() - startMs) * perSecond) / 1000)
      while (calls.length - before < due) calls.push(send())
      await sleep(2)
    }
  }
  return Promise.all(calls)
}

/** What many apps do: a second, and once more, whatever it was. */
async function withRetries(agent, way) {
  const startMs = performance.now()
  for (let attempt = 0; ; attempt++) {
    const status = await call(agent, way)
    const again = status === 0 || [429, 502, 503, 504].includes(status)
    if (!again || attempt >= way.retries) return { status, ms: performance.now() - startMs }
    await sleep(1000)
  }
}

/** Its status; 0 = none came. */
function call(agent, { port, timeoutMs }) {
  return new Promise(resolve => {
    const request = get({ port, host: '127.0.0.1', path: '/x', agent, timeout: timeoutMs }, response => {
      response.on('error', () => resolve(0)).on('end', () => resolve(response.statusCode))
      response.resume()
    })
    request.on('timeout', () => request.destroy()).on('error', () => resolve(0))
  })
}

function figures(calls, { perSecond, intoBan, mostOpen }, phases, memoryMiB) {
  const ms = calls.map(one => one.ms).sort((a, b) => a - b)
  const at = share => ms[Math.min(ms.length - 1, Math.floor(share * ms.length))]
  const attempts = perSecond.reduce((sum, count) => sum + (count ?? 0), 0)
  const most = Math.max(...phases.map(([rate]) => rate))
  return {
    success: (100 * calls.filter(({ status }) => status === 200).length) / calls.length,
    attemptsPerCall: attempts / calls.length,
    peak: Math.max(...perSecond.map(count => count ?? 0)) / most,
    p50Ms: at(0.5),
    p98Ms: at(0.98),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    intoBan,
    mostOpen,
    memoryMiB,
  }
}

function row(result) {
  const short = ([key, value]) => [key, value === null ? '' : Number(value.toFixed(2))]
  return Object.fromEntries(Object.entries(result).map(short))
}

function judge(what, result, goals) {
  for (const [key, limit] of Object.entries(goals)) {
    const kept = key === 'success' ? result[key] >= limit : result[key] <= limit
    if (!kept) missed += 1
    console.log(
      `${kept ? 'kept  ' : 'MISSED'} ${what}: ${key} ${result[key].toFixed(2)} (${key === 'success' ? 'at least' : 'at most'} ${limit})`,
    )
  }
}
