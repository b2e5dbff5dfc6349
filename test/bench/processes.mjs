import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** Core of the side under test, and core of upstream and load. */
export const SIDE_CORE = 0
export const LOAD_CORE = 1

/** `taskset` is there and there are two cores to part. */
export const pinned = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK']).stdout ?? 100) || 100

export function start(core, command, args, stdio = ['ignore', 'ignore', 'inherit']) {
  const [file, all] = pinned ? ['taskset', ['-c', String(core), command, ...args]] : [command, args]
  return spawn(file, all, { stdio })
}

export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Runs to the end and parses the one JSON line that it prints. */
export async function run(core, command, args) {
  const child = start(core, command, args, ['ignore', 'pipe', 'inherit'])
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  await once(child, 'close')
  return JSON.parse(output)
}

/** CPU time of a process so far, all threads, user and system, ms. Linux only; steps of 10 ms. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

/** Resident memory now, MiB. */
export const rssMiB = pid => statusMiB(pid, 'VmRSS')

/** The most that it ever was, MiB. */
export const peakRssMiB = pid => statusMiB(pid, 'VmHWM')

function statusMiB(pid, field) {
  const [, kib] = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(kib) / 1024
}

export async function freePort() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Asks every `everyMs` until the URL answers 200; ms waited. */
export async function untilReady(url, child, everyMs = 10) {
  const startedMs = performance.now()
  for (;;) {
    const status = await fetch(url).then(
      async response => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
    if (status === 200) return performance.now() - startedMs
    if (child.exitCode !== null) throw new Error(`exited with ${child.exitCode} before it answered ${url}`)
    if (performance.now() - startedMs > 60_000) throw new Error(`no answer from ${url}`)
    await sleep(everyMs)
  }
}

export const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
