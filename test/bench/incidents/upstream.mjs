// An upstream with a bad day, as a process of its own: `fork(upstream.mjs, [PORT, MODEL])`. The message 'start' begins its
// day, 'tell' is answered with what it saw. Times of the model are in seconds since the start, but where the name says ms.
//   latencyMs      of every answer
//   perSecond      what one queue serves; a call that would wait longer than queueMs gets 503
//   coldMisses     the queue is `missCost` slower for each call until so many were served since the last fault
//   limit          { perSecond, burst, banMs }: a bucket of tokens; a call without one starts a ban, a call into it prolongs it
//   tail           { share, ms }: so many answers take so long
//   faults         [{ from, to, status | lossShare + ms | failShare }]
import { createServer } from 'node:http'

const [port, model] = [Number(process.argv[2]), JSON.parse(process.argv[3])]
const seen = { perSecond: [], intoBan: 0, mostOpen: 0 }
const bucket = { tokens: model.limit?.burst ?? 0, filledAt: 0, bannedUntil: 0 }
let startMs = null
let freeAt = 0
let served = 0
let open = 0

/** Seeded, so that every way meets the same luck. */
let state = 7
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  if (startMs === null) return response.end('200')
  const now = (performance.now() - startMs) / 1000
  const second = Math.floor(now)
  seen.perSecond[second] = (seen.perSecond[second] ?? 0) + 1
  const { status, delayMs = 0, retryAfter } = treat(now)
  if (status === 'lost') return request.socket.destroy()
  const answer = () => response.writeHead(status, retryAfter ? { 'retry-after': retryAfter } : {}).end(String(status))
  if (delayMs > 0) setTimeout(answer, delayMs)
  else answer()
})
server.on('connection', socket => {
  seen.mostOpen = Math.max(seen.mostOpen, ++open)
  socket.on('close', () => open--)
})
server.listen(port, '127.0.0.1', () => process.send('listening'))
process.on('message', message => {
  if (message === 'start') startMs = performance.now()
  else process.send(seen)
})

function treat(now) {
  const fault = (model.faults ?? []).find(({ from, to }) => now >= from && now < to)
  if (fault !== undefined) served = 0
  if (fault?.status) return { status: fault.status }
  if (fault?.lossShare) return random() < fault.lossShare ? { status: 'lost' } : { status: 200, delayMs: fault.ms }
  if (fault?.failShare && random() < fault.failShare) return { status: 503 }
  if (model.limit) return limited(now, model.limit)
  if (model.tail && random() < model.tail.share) return { status: 200, delayMs: model.tail.ms }
  return model.perSecond ? queued(now) : { status: 200, delayMs: model.latencyMs }
}

function queued(now) {
  const start = Math.max(now, freeAt)
  if ((start - now) * 1000 > model.queueMs) return { status: 503 }
  const cost = served++ < (model.coldMisses ?? 0) ? model.missCost : 1
  freeAt = start + cost / model.perSecond
  return { status: 200, delayMs: (freeAt - now) * 1000 }
}

function limited(now, { perSecond, burst, banMs }) {
  bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.filledAt) * perSecond)
  bucket.filledAt = now
  if (now < bucket.bannedUntil) {
    seen.intoBan += 1
    bucket.bannedUntil = Math.min(now + banMs / 1000, bucket.bannedUntil + banMs / 20_000)
  } else if (bucket.tokens < 1) bucket.bannedUntil = now + banMs / 1000
  else {
    bucket.tokens -= 1
    return { status: 200, delayMs: model.latencyMs }
  }
  return { status: 429, retryAfter: String(Math.ceil(bucket.bannedUntil - now)) }
}
