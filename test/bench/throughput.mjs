// CPU per request, throughput and latency of forbear beside other proxies. See README.md; `--check` fails on a broken
// floor. Ratios are taken within a round, since what else the machine does changes from round to round.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpuMs, freePort, LOAD_CORE, median, pinned, rssMiB, run, start, stop, untilReady } from './processes.mjs'
import { BARE_RELAY, FORBEAR, FORBEAR_LOGGING, HTTP_PROXY, startSides } from './sides.mjs'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    check: { type: 'boolean', default: false },
  },
})

/** Most that the first side may take of the second's. */
const FLOORS = [
  { side: FORBEAR, of: BARE_RELAY, what: 'cpuUs', limit: 1.3 },
  { side: FORBEAR_LOGGING, of: BARE_RELAY, what: 'cpuUs', limit: 1.5 },
  { side: FORBEAR, of: HTTP_PROXY, what: 'cpuUs', limit: 0.9 },
  { side: FORBEAR, of: HTTP_PROXY, what: 'p99Ms', limit: 1 },
]
const WORDS = { cpuUs: 'CPU per request', p99Ms: 'p99' }

const script = name => fileURLToPath(new URL(name, import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'forbear-bench-'))
const targetPort = await freePort()
const upstream = start(LOAD_CORE, process.execPath, [script('upstream.mjs'), String(targetPort)])
const sides = []
try {
  await untilReady(`http://127.0.0.1:${targetPort}/`, upstream)
  sides.push(...(await startSides(targetPort, directory)))
  console.log(
    `Node ${process.version}, ${flags.connections} connections, ${flags.rounds} rounds of ${flags.seconds} s, ${
      pinned ? 'side on one core, upstream and load on another' : 'not pinned: the figures are rough'
    }`,
  )
  for (const side of sides) await measure(side, 2)
  for (const side of sides) side.rounds = []
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const side of sides) side.rounds.push(await measure(side, flags.seconds))
  }
  console.table(Object.fromEntries(sides.map(side => [side.name, row(side)])))
  if (report().some(floor => !floor.kept) && flags.check) process.exitCode = 1
} finally {
  for (const { child } of [...sides, { child: upstream }]) await stop(child)
  rmSync(directory, { recursive: true, force: true })
}

async function measure({ name, child, port, path }, seconds) {
  const beforeMs = cpuMs(child.pid)
  const args = [script('load.mjs'), String(port), path, flags.connections, String(seconds)]
  const load = await run(LOAD_CORE, process.execPath, args)
  if (load.failures > 0) throw new Error(`${name}: ${load.failures} connections failed`)
  return { ...load, cpuUs: ((cpuMs(child.pid) - beforeMs) * 1000) / load.requests, rssMiB: rssMiB(child.pid) }
}

function row({ name, rounds }) {
  const of = field => median(rounds.map(round => round[field]))
  return {
    'CPU µs/request': Number(of('cpuUs').toFixed(1)),
    [`× ${BARE_RELAY}`]: Number(ratio(name, BARE_RELAY, 'cpuUs').toFixed(2)),
    'requests/s': Math.round(of('perSecond')),
    'p50 ms': Number(of('p50Ms').toFixed(2)),
    'p99 ms': Number(of('p99Ms').toFixed(2)),
    'RSS MiB': Math.round(of('rssMiB')),
  }
}

/** Median over the rounds of one side's figure ÷ the other's in the same round. */
function ratio(name, other, field) {
  const roundsOf = wanted => sides.find(side => side.name === wanted).rounds
  return median(roundsOf(name).map((round, i) => round[field] / roundsOf(other)[i][field]))
}

function report() {
  const known = new Set(sides.map(side => side.name))
  return FLOORS.filter(floor => known.has(floor.side) && known.has(floor.of)).map(({ side, of, what, limit }) => {
    const value = ratio(side, of, what)
    const kept = value <= limit
    console.log(`${kept ? 'kept  ' : 'BROKEN'} ${WORDS[what]}: ${side} is ${value.toFixed(2)} × ${of} (limit ${limit})`)
    return { kept }
  })
}
