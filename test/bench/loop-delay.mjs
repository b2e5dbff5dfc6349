// Preloaded into the process under test: at SIGUSR2 it tells the longest block of its event loop since the last time,
// and how much of a block at most was work of its own; the rest is waiting for a core that others had.
import { readFileSync } from 'node:fs'

const EVERY_MS = 1
let worst = { blockedMs: 0, ownMs: 0 }
let last = { atMs: performance.now(), ranMs: ranMs() }

setInterval(() => {
  const now = { atMs: performance.now(), ranMs: ranMs() }
  const blockedMs = Math.max(worst.blockedMs, now.atMs - last.atMs - EVERY_MS)
  worst = { blockedMs, ownMs: Math.max(worst.ownMs, now.ranMs - last.ranMs) }
  last = now
}, EVERY_MS).unref()

process.on('SIGUSR2', () => {
  process.stdout.write(`${JSON.stringify(worst)}\n`)
  worst = { blockedMs: 0, ownMs: 0 }
})

/** Time that this thread has had a core, ms (Linux; elsewhere it stands still). */
function ranMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}
