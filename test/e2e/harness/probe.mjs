// Loaded before the command under test: SIGUSR2 makes it print what keeps its event loop alive and what its heap
// holds after a collection (with --expose-gc), as one JSON line on its output.
process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const handles = {}
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ probe: { handles, heapBytes: heapUsed, externalBytes: external } })}\n`)
})
