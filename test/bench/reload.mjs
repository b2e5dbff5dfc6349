// Edits of one document in a set of 200 upstreams × 5 routes, under load. `--check` fails on a broken floor.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { filesOf, upstreamText } from './large-set.mjs'
import {
  freePort,
  LOAD_CORE,
  median,
  peakRssMiB,
  pinned,
  rssMiB,
  SIDE_CORE,
  start,
  stop,
  untilReady,
} from './processes.mjs'

const { values: flags } = parseArgs({
  options: {
    upstreams: { type: 'string', default: '200' },
    files: { type: 'string', default: '1,4,200' },
    edits: { type: 'string', default: '50' },
    rps: { type: 'string', default: '500' },
    check: { type: 'boolean', default: false },
  },
})
const BLOCKED_LIMIT_MS = 50
const SLOW_MS = 500
const COMMAND = fileURLToPath(new URL('../../dist/cmd/forbear.js', import.meta.url))
const PRELOAD = new URL('loop-delay.mjs', import.meta.url).href
const upstreams = Number(flags.upstreams)
/** Between two edits, and before the first: garbage of the one must not count against the next. */
const REST_MS = 300

if (!pinned) console.log('not pinned (no taskset or one core): rough figures')
const table = {}
for (const fileCount of flags.files.split(',').map(Number)) table[`${fileCount} files`] = await measure(fileCount)
console.table(table)
const worst = field => Math.max(...Object.values(table).map(row => row[field]))
const kept = [
  verdict('longest block of the event loop by own work, ms', worst('worst'), BLOCKED_LIMIT_MS),
  verdict('requests lost', worst('lost'), 0),
  verdict('documents parsed for an edit of one', worst('parsed'), 1),
]
if (flags.check && kept.includes(false)) process.exitCode = 1

async function measure(fileCount) {
  const target = await freePort()
  const documents = Array.from({ length: upstreams }, (_, n) => upstreamText(n, target))
  const directory = mkdtempSync(join(tmpdir(), 'forbear-bench-'))
  const files = filesOf(documents, fileCount)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const upstream = start(LOAD_CORE, process.execPath, [
    fileURLToPath(new URL('upstream.mjs', import.meta.url)),
    String(target),
  ])
  const side = await sidecar(directory)
  const load = startLoad(side.port, Number(flags.rps))
  try {
    await sleep(3 * REST_MS)
    await steady(load)
    if (load.lost > 0) console.log(`${fileCount} files, lost before the first edit:`, { ...load.reasons })
    Object.assign(load, { slow: 0, retried: 0, slowByConnection: 0 })
    const overflowsBefore = listenOverflows()
    const rssBefore = rssMiB(side.child.pid)
    const rows = []
    for (let n = 1; n <= Number(flags.edits); n++) {
      // Always one in the middle, with a line more or less, so that all below it move.
      documents[upstreams >> 1] = upstreamText(upstreams >> 1, target, 2 + (n % 5)) + '#\n'.repeat(n % 3)
      rows.push(await edit(side, directory, filesOf(documents, fileCount), load))
    }
    tellSlow(fileCount, load, listenOverflows() - overflowsBefore)
    const of = field => rows.map(row => row[field])
    return {
      KB: Math.round(Object.values(files).join('').length / 1000),
      'ready ms': Math.round(side.readyMs),
      'in force ms': Math.round(median(of('inForceMs'))),
      'load ms': Math.round(median(of('durationMs'))),
      parsed: Math.max(...of('documentsParsed')),
      'blocked ms': round(median(of('blockedMs'))),
      'worst ': round(Math.max(...of('blockedMs'))),
      'own work ms': round(median(of('ownMs'))),
      worst: round(Math.max(...of('ownMs'))),
      'answer ms, worst': round(Math.max(...of('answerMs'))),
      [`over ${SLOW_MS}`]: load.slow,
      sent: load.sent,
      lost: load.lost,
      'RSS MiB before': Math.round(rssBefore),
      'half way': Math.round(rows[rows.length >> 1].rss),
      after: Math.round(rssMiB(side.child.pid)),
      peak: Math.round(peakRssMiB(side.child.pid)),
    }
  } finally {
    if (load.lost > 0) console.log(`${fileCount} files, lost:`, load.reasons)
    load.stop()
    await Promise.all([stop(side.child), stop(upstream)])
    rmSync(directory, { recursive: true, force: true })
  }
}

async function edit(side, directory, files, load) {
  await sleep(REST_MS)
  await side.blocked()
  load.worstMs = 0
  const startedMs = performance.now()
  const applied = side.next(line => line.result === 'applied')
  for (const [name, text] of Object.entries(files)) {
    if (text !== side.written.get(name)) writeFileSync(join(directory, name), text)
    side.written.set(name, text)
  }
  const { durationMs, documentsParsed } = await applied
  const inForceMs = performance.now() - startedMs
  await sleep(REST_MS)
  const rss = rssMiB(side.child.pid)
  return { inForceMs, durationMs, documentsParsed, answerMs: load.worstMs, rss, ...(await side.blocked()) }
}

/** The cold start is over: its code is compiled, its connections are made. */
async function steady(load) {
  for (let n = 0; n < 100; n++) {
    load.worstMs = 0
    await sleep(REST_MS)
    if (load.pending < 20 && load.worstMs < SLOW_MS / 5) return
  }
  console.log('never became steady: the machine is too busy for so many calls a second')
}

/** A slow answer to a first attempt, after no retry, on a new connection is one that waited for the machine. */
function tellSlow(fileCount, { slow, retried, slowByConnection }, overflows) {
  if (slow === 0 && overflows === 0) return
  const about = `${retried} after a retry, ${slowByConnection} on a connection that was new`
  console.log(
    `${fileCount} files, answers over ${SLOW_MS} ms: ${slow} (${about});`,
    `queue of a port full: ${overflows}`,
  )
}

async function sidecar(directory) {
  const [port, admin, health] = [await freePort(), await freePort(), await freePort()]
  const at = number => `127.0.0.1:${number}`
  const ports = ['--listen', at(port), '--admin', at(admin), '--health', at(health), '--access-log', 'off']
  const args = ['--import', PRELOAD, COMMAND, 'run', '--policies', directory, ...ports]
  const child = start(SIDE_CORE, process.execPath, args, ['ignore', 'pipe', 'inherit'])
  const waiting = new Set()
  createInterface(child.stdout).on('line', text => {
    const line = JSON.parse(text)
    for (const one of waiting) {
      if (!one.wanted(line)) continue
      waiting.delete(one)
      one.resolve(line)
    }
  })
  const next = wanted => new Promise(resolve => waiting.add({ wanted, resolve }))
  const blocked = async () => {
    const told = next(line => 'blockedMs' in line)
    child.kill('SIGUSR2')
    return told
  }
  return {
    child,
    port,
    readyMs: await untilReady(`http://${at(health)}/readyz`, child, 1),
    next,
    blocked,
    written: new Map(),
  }
}

/** A steady stream over keep-alive, whether or not earlier calls have come back. */
function startLoad(port, perSecond) {
  const agent = new Agent({ keepAlive: true })
  const counts = { sent: 0, pending: 0, lost: 0, slow: 0, retried: 0, slowByConnection: 0 }
  const load = { ...counts, reasons: {}, worstMs: 0, stop: () => clearInterval(timer) }
  const lose = reason => {
    load.lost++
    load.reasons[reason] = (load.reasons[reason] ?? 0) + 1
  }
  const send = () => {
    const startedMs = performance.now()
    const path = `/service-${load.sent++ % upstreams}/v1/stock/${load.sent}`
    const request = get({ port, agent, path }, response => {
      if (response.statusCode !== 200) lose(`${response.statusCode} ${response.headers['forbear-outcome']}`)
      response.resume().once('end', () => {
        const tookMs = performance.now() - startedMs
        load.worstMs = Math.max(load.worstMs, tookMs)
        if (tookMs < SLOW_MS) return
        load.slow++
        if (response.headers['forbear-attempts'] !== '1') load.retried++
        if (!request.reusedSocket) load.slowByConnection++
      })
    })
    load.pending++
    request.once('close', () => load.pending--)
    request.once('error', error => lose(error.code))
  }
  const startedMs = performance.now()
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) * perSecond) / 1000
    while (load.sent < due) send()
  }, 2)
  return load
}

/** Connections that found the queue of a listening port full, of all processes: each waits for a second and more. */
function listenOverflows() {
  try {
    const [names, values] = readFileSync('/proc/net/netstat', 'latin1')
      .split('\n')
      .map(line => line.split(' '))
    return Number(values[names.indexOf('ListenOverflows')])
  } catch {
    return 0
  }
}

function verdict(what, value, limit) {
  console.log(`${value <= limit ? 'kept  ' : 'BROKEN'} ${what}: ${value} (limit ${limit})`)
  return value <= limit
}

function round(value) {
  return Number(value.toFixed(1))
}
