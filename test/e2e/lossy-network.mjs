// Run inside a network namespace of its own: GETs through forbear to an upstream whose packets, both ways, are lost in
// one of five cases. Prints one JSON line. `node lossy-network.mjs CALLS PER_SECOND`
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { forbearSide } from '../bench/forbear-side.mjs'
import { freePort, start, untilReady } from '../bench/processes.mjs'

const [calls, perSecond] = process.argv.slice(2).map(Number)
const BODY = 'x'.repeat(20_000)
let hits = 0
const upstream = createServer((_request, response) => {
  hits += 1
  response.end(BODY)
})
execFileSync('ip', ['link', 'set', 'lo', 'up'])
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')
const target = upstream.address().port
const port = await freePort()
const { args, health, directory } = await forbearSide(port, target, ['--access-log', 'off'])
const sidecar = start(0, process.execPath, args, ['ignore', 'ignore', 'inherit'])
try {
  await untilReady(`http://127.0.0.1:${health}/readyz`, sidecar)
  for (const end of ['--dport', '--sport']) {
    const lost = ['-m', 'statistic', '--mode', 'random', '--probability', '0.2', '-j', 'DROP']
    execFileSync('iptables', ['-A', 'INPUT', '-i', 'lo', '-p', 'tcp', end, String(target), ...lost])
  }
  const answers = []
  for (let n = 0; n < calls; n++) {
    answers.push(answerOf(`http://127.0.0.1:${port}/bench/${n}`))
    await sleep(1000 / perSecond)
  }
  const statuses = await Promise.all(answers)
  console.log(
    JSON.stringify({ served: statuses.filter(one => one === 200).length, statuses, hits, exit: sidecar.exitCode }),
  )
} finally {
  sidecar.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
  upstream.closeAllConnections()
  upstream.close()
}

/** Its status, if the body is whole. */
function answerOf(url) {
  return new Promise(resolve => {
    const request = get(url, { agent: false }, async response => {
      let bytes = 0
      for await (const chunk of response) bytes += chunk.length
      resolve(response.statusCode === 200 && bytes !== BODY.length ? `${bytes} bytes` : response.statusCode)
    })
    request.on('error', error => resolve(String(error)))
  })
}
