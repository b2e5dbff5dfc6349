// What hedging does to the slowest answers, and what it costs: an upstream of which 1 % of the answers are 50 times
// slower, asked with and without hedging in turns; then one that is slow for everybody.
// `node hedge.mjs [--rate 100] [--seconds 20] [--rounds 3] [--check]`; see README.md; `--check` exits 1 below the floors.
import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { forbearSide } from './forbear-side.mjs'
import { freePort, pinned, SIDE_CORE, start, stop, untilReady } from './processes.mjs'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    check: { type: 'boolean', default: false },
  },
})
const [rate, seconds, rounds] = [values.rate, values.seconds, values.rounds].map(Number)
const FAST_MS = 20
const SLOW_MS = 50 * FAST_MS
const BUDGET_RATIO = 0.2

/** Seeded, so that each run meets the same luck. `/all-slow` and `/some-slow` switch what follows. */
const UPSTREAM = `let state = 7, all = false
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
require('node:http').createServer({ keepAliveTimeout: 600000 }, (request, response) => {
  if (request.url === '/all-slow' || request.url === '/some-slow') all = request.url === '/all-slow'
  const ms = all || random() < 0.01 ? ${SLOW_MS} : ${FAST_MS} * (0.8 + 0.4 * random())
  setTimeout(() => response.end('x'.repeat(1024)), ms)
}).listen(Number(process.argv[1]), '127.0.0.1')`

const target = await freePort()
const upstream = spawn(process.execPath, ['-e', UPSTREAM, String(target)], { stdio: 'inherit' })
const off = await side('')
const on = await side('  hedge: { after: p95 }\n')
try {
  await untilReady(`http://127.0.0.1:${target}/some-slow`, upstream)
  for (const { child, health } of [off, on]) await untilReady(`http://127.0.0.1:${health}/readyz`, child)
  for (const each of [off, on]) await load(each, 3)
  const [plain, hedged] = [[], []]
  const before = await sentHedges(on)
  for (let round = 0; round < rounds; round++) {
    plain.push(...(await load(off, seconds)))
    hedged.push(...(await load(on, seconds)))
  }
  const extra = ((await sentHedges(on)) - before) / hedged.length
  await fetch(`http://127.0.0.1:${target}/all-slow`).then(answer => answer.arrayBuffer())
  const inBrownOut = await sentHedges(on)
  const brown = await load(on, seconds)
  report({ plain, hedged, extra, brown, brownExtra: ((await sentHedges(on)) - inBrownOut) / brown.length })
} finally {
  for (const child of [upstream, off.child, on.child]) await stop(child)
  for (const { directory } of [off, on]) rmSync(directory, { recursive: true, force: true })
}
process.exit()

/** forbear in front of the upstream; `lines` stand in its spec. */
async function side(lines) {
  const port = await freePort()
  const { args, health, directory } = await forbearSide(port, target, ['--access-log', 'off'])
  const text = `apiVersion: forbear.dev/v1alpha1
kind: Upstream
metadata: { name: bench }
spec:
  target: "http://127.0.0.1:${target}"
  budget: { ratio: ${BUDGET_RATIO} }
${lines}`
  writeFileSync(join(directory, 'bench.yaml'), text)
  return {
    child: start(SIDE_CORE, process.execPath, args),
    port,
    health,
    directory,
    agent: new Agent({ keepAlive: true }),
  }
}

/** Open loop: calls leave at their instants whether or not earlier ones have come back. ms of each, in order. */
async function load({ port, agent }, forSeconds) {
  const startMs = performance.now()
  const calls = []
  while (calls.length < rate * forSeconds) {
    const due = Math.min(rate * forSeconds, ((performance.now() - startMs) * rate) / 1000)
    while (calls.length < due) calls.push(one(port, agent))
    await sleep(1)
  }
  return Promise.all(calls)
}

function one(port, agent) {
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', path: '/bench/x', agent }, response => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      response.on('error', reject).on('end', () => resolve(performance.now() - startMs))
      response.resume()
    })
    request.on('error', reject)
  })
}

async function sentHedges({ health }) {
  const text = await (await fetch(`http://127.0.0.1:${health}/metrics`)).text()
  const sent = text.matchAll(/^forbear_hedges_total\{.*result="(?:won|lost|failed|aborted)".*\} (\d+)$/gm)
  return [...sent].reduce((sum, [, count]) => sum + Number(count), 0)
}

function quantile(list, q) {
  const sorted = [...list].sort((a, b) => a - b)
  return Number(sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)].toFixed(1))
}

function report({ plain, hedged, extra, brown, brownExtra }) {
  const ratio = quantile(plain, 0.999) / quantile(hedged, 0.999)
  const row = list => ({
    requests: list.length,
    'p50 ms': quantile(list, 0.5),
    'p99 ms': quantile(list, 0.99),
    'p99.9 ms': quantile(list, 0.999),
  })
  const percent = share => `${(100 * share).toFixed(2)} %`
  console.log(`Node ${process.version}, ${rate} requests/s, 1 % of ${FAST_MS} ms answers take ${SLOW_MS} ms`)
  console.log(pinned ? `forbear alone on core ${SIDE_CORE}` : 'not pinned: the figures are rough')
  console.table({ 'without hedging': row(plain), 'with hedging': row(hedged), 'everything slow': row(brown) })
  console.log(`p99.9 falls ${ratio.toFixed(1)} times for ${percent(extra)} more calls`)
  console.log(`everything slow: ${percent(brownExtra)} more calls; half of the budget is ${percent(BUDGET_RATIO / 2)}`)
  // The floor of a window is on top of the ratio, for quiet clients.
  const mostBrown = BUDGET_RATIO / 2 + 0.25 / rate
  if (values.check && (ratio < 5 || extra > 0.05 || brownExtra > mostBrown)) process.exitCode = 1
}
