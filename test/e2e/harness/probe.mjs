// Loaded before the command under test; prints what it is asked for as one JSON line on its output. SIGUSR2: what keeps
// the event loop alive, and what the heap holds after a collection (with --expose-gc). SIGURG: how many timers and
// sockets there are in the heap, those that keep nothing alive included; this stops the process for a good while. SIGWINCH:
// the CommonJS modules that are loaded.
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { queryObjects } from 'node:v8'

const Timeout = setTimeout(() => {}).unref().constructor

const print = answer => process.stdout.write(`${JSON.stringify(answer)}\n`)

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const handles = {}
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1
  const { heapUsed, external } = process.memoryUsage()
  print({ probe: { handles, heapBytes: heapUsed, externalBytes: external } })
})

process.on('SIGWINCH', () => print({ modules: Object.keys(createRequire(import.meta.url).cache) }))

process.on('SIGURG', () => {
  // Node warns that this is experimental; only the command under test shall be heard.
  const { emitWarning } = process
  process.emitWarning = () => {}
  const [timers, sockets] = [Timeout, Socket].map(kind => queryObjects(kind, { format: 'count' }))
  process.emitWarning = emitWarning
  print({ count: { timers, sockets } })
})
