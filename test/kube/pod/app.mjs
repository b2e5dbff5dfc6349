// An app that calls payments through its sidecar and tells of it, a JSON line each. It never repeats a call.
//   APP_JOB=5         makes so many calls and ends, and where it is told to, ends the sidecar, too
//   APP_SOCKET=path   serves: each request that comes makes a call, whose status is the answer
//   APP_IDLE_MS, APP_LAST_MS   what it does after SIGTERM: nothing, then calls; then it ends
//   APP_STUBBORN=1    does not end
import { Agent, createServer, request } from 'node:http'

const { FORBEAR_URL = '', FORBEAR_QUIT_URL, APP_JOB, APP_SOCKET, APP_IDLE_MS, APP_LAST_MS, APP_STUBBORN } = process.env
const agent = new Agent({ keepAlive: true })

// Before anything else.
const first = call('/payments/first')
if (APP_JOB === undefined) await serve()
tell({ first: await first, atMs: Math.round(performance.now()) })
if (APP_JOB !== undefined) await job(Number(APP_JOB))

async function job(calls) {
  const results = []
  while (results.length < calls) results.push(await call('/payments/job'))
  tell({ job: results })
  if (FORBEAR_QUIT_URL !== undefined) tell({ quit: await send('POST', FORBEAR_QUIT_URL) })
  agent.destroy()
}

function serve() {
  const server = createServer(async (req, res) => {
    const result = await call(req.url)
    res.writeHead(typeof result === 'number' ? result : 599, { connection: 'close' }).end(String(result))
  })
  const alive = setInterval(() => {}, 1_000)
  process.once('SIGTERM', async () => {
    await new Promise(resolve => setTimeout(resolve, Number(APP_IDLE_MS ?? 0)))
    await lastCalls(Number(APP_LAST_MS ?? 0))
    if (APP_STUBBORN !== undefined) return void lastCalls(Number.POSITIVE_INFINITY)
    clearInterval(alive)
    server.close(() => agent.destroy())
  })
  return new Promise(resolve => server.listen(APP_SOCKET, resolve))
}

async function lastCalls(forMs) {
  const endMs = performance.now() + forMs
  do {
    tell({ last: await call('/payments/last') })
    await new Promise(resolve => setTimeout(resolve, 50))
  } while (performance.now() < endMs)
}

/** The status, or the code of the error. */
function call(path) {
  return send('GET', FORBEAR_URL + path)
}

function send(method, url) {
  return new Promise(resolve => {
    const req = request(url, { method, agent }, res => {
      res.resume()
      res.once('end', () => resolve(res.statusCode))
      res.once('error', error => resolve(error.code))
    })
    req.once('error', error => resolve(error.code))
    req.end()
  })
}

function tell(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}
