// Start-up time and idle memory of forbear beside a bare node server, in turns. `--check` fails on a broken floor.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { forbearSide } from './forbear-side.mjs'
import { freePort, median, rssMiB, SIDE_CORE, start, stop, untilReady } from './processes.mjs'

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, check: { type: 'boolean', default: false } },
})
const READY_LIMIT = 4
const RSS_LIMIT = 2.2
/** Long enough for the first garbage to go and for lazy work at start to end. */
const IDLE_MS = 1500

const measured = { 'bare node server': [], forbear: [] }
for (let round = 0; round < Number(flags.rounds); round++) {
  measured['bare node server'].push(await bare())
  measured.forbear.push(await forbear())
}

const of = (name, field) => measured[name].map(round => round[field])
console.table(
  Object.fromEntries(
    Object.keys(measured).map(name => [
      name,
      {
        'ready ms': Math.round(median(of(name, 'readyMs'))),
        '× bare': Number(ratio(name, 'readyMs').toFixed(2)),
        'idle RSS MiB': Math.round(median(of(name, 'rssMiB'))),
        '× bare ': Number(ratio(name, 'rssMiB').toFixed(2)),
      },
    ]),
  ),
)
const kept = [verdict('ready time', 'readyMs', READY_LIMIT), verdict('idle RSS', 'rssMiB', RSS_LIMIT)]
if (flags.check && kept.includes(false)) process.exitCode = 1

async function bare() {
  const port = await freePort()
  const script = fileURLToPath(new URL('sides/bare-server.mjs', import.meta.url))
  return measure([script, String(port)], `http://127.0.0.1:${port}/`)
}

async function forbear() {
  const { args, health, directory } = await forbearSide(await freePort(), await freePort(), ['--access-log', 'off'])
  try {
    return await measure(args, `http://127.0.0.1:${health}/readyz`)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measure(args, url) {
  const child = start(SIDE_CORE, process.execPath, args)
  try {
    const readyMs = await untilReady(url, child, 1)
    await sleep(IDLE_MS)
    return { readyMs, rssMiB: rssMiB(child.pid) }
  } finally {
    await stop(child)
  }
}

function ratio(name, field) {
  return median(of(name, field).map((value, round) => value / of('bare node server', field)[round]))
}

function verdict(what, field, limit) {
  const value = ratio('forbear', field)
  console.log(`${value <= limit ? 'kept  ' : 'BROKEN'} ${what}: forbear is ${value.toFixed(2)} × bare (limit ${limit})`)
  return value <= limit
}
