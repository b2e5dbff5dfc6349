// What the sidecar takes of a pod: size of the image, idle memory, time until ready with a core and with a tenth of one,
// each beside a bare node server in the same run. On the image's own node after `sh deploy/image/stage.sh`, else on this.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpuQuota } from './cpu-quota.mjs'
import { forbearSide } from './forbear-side.mjs'
import { freePort, median, SIDE_CORE, start, stop, untilReady } from './processes.mjs'

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const ROUNDS = Number(flags.rounds)
const IDLE_MS = 1500
const LITTLE_CPU = 0.1

const path = relative => fileURLToPath(new URL(`../../${relative}`, import.meta.url))
const ROOTFS = path('dist/image/rootfs')
const staged = existsSync(`${ROOTFS}/usr/local/bin/node`)
const node = staged ? `${ROOTFS}/usr/local/bin/node` : process.execPath

const SIDES = {
  'bare node server': async () => {
    const port = await freePort()
    return { args: [path('test/bench/sides/bare-server.mjs'), String(port)], url: `http://127.0.0.1:${port}/` }
  },
  'forbear, one file': () => forbear(staged ? `${ROOTFS}/app/forbear.mjs` : path('dist/forbear.mjs')),
  'forbear, many files': () => forbear(path('dist/cmd/forbear.js')),
}

const little = cpuQuota(LITTLE_CPU)
// Another process of the same binary: else its pages would count as private to the only one that has them.
const companion = start(SIDE_CORE, node, (await SIDES['bare node server']()).args)
const measured = Object.fromEntries(Object.keys(SIDES).map(name => [name, []]))
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, side] of Object.entries(SIDES)) measured[name].push(await measure(side))
  }
} finally {
  await stop(companion)
  little.remove()
}
report()

async function forbear(command) {
  const { args, health, directory } = await forbearSide(await freePort(), await freePort(), ['--access-log', 'off'])
  const dispose = () => rmSync(directory, { recursive: true, force: true })
  return { args: [command, ...args.slice(1)], url: `http://127.0.0.1:${health}/readyz`, dispose }
}

async function measure(side) {
  const free = await run(await side(), [])
  if (little.through === null) return free
  return { ...free, littleMs: (await run(await side(), little.through)).readyMs }
}

async function run({ args, url, dispose }, through) {
  const [command, ...rest] = [...through, node, ...args]
  const child = start(SIDE_CORE, command, rest)
  try {
    const readyMs = await untilReady(url, child, 1)
    await sleep(IDLE_MS)
    return { readyMs, ...memory(child.pid) }
  } finally {
    await stop(child)
    dispose?.()
  }
}

/** MiB: private is what one more sidecar on a node costs, shared are pages of files that all of them have in common. */
function memory(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
  const of = name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)[1]) / 1024
  return {
    rss: of('Rss'),
    private: of('Private_Clean') + of('Private_Dirty'),
    anonymous: of('Anonymous'),
    shared: of('Shared_Clean') + of('Shared_Dirty'),
  }
}

function report() {
  const of = (name, field) => median(measured[name].map(round => round[field]))
  const times = (name, field) =>
    `× ${median(measured[name].map((round, n) => round[field] / measured['bare node server'][n][field])).toFixed(2)}`
  console.log(`node ${staged ? 'of the image' : 'of this machine'}, medians of ${ROUNDS} rounds in turns`)
  const fields = { 'RSS MiB': 'rss', private: 'private', 'of it anonymous': 'anonymous', 'ready ms': 'readyMs' }
  if (little.through === null) console.log(`skipped: ready at ${LITTLE_CPU} CPU: ${little.why}`)
  else fields[`ready ms at ${LITTLE_CPU} CPU`] = 'littleMs'
  const row = name =>
    Object.entries(fields).map(([title, field]) => [title, `${of(name, field).toFixed(0)} ${times(name, field)}`])
  console.table(Object.fromEntries(Object.keys(SIDES).map(name => [name, Object.fromEntries(row(name))])))
  if (staged)
    console.log(
      `files of the image: ${(bytesBelow(ROOTFS) / 1e6).toFixed(1)} MB, node ${(bytesBelow(`${ROOTFS}/usr/local/bin`) / 1e6).toFixed(1)} MB of it`,
    )
}

function bytesBelow(dir) {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return entries.reduce((sum, entry) => sum + statSync(`${entry.parentPath}/${entry.name}`).size, 0)
}
