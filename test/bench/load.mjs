// Closed loop over raw keep-alive sockets, cheaper than any HTTP client: each connection sends its next GET when the
// answer is whole. Answers must carry Content-Length. Prints one JSON line.
// `node load.mjs PORT PATH CONNECTIONS SECONDS`
import { connect } from 'node:net'

const [port, path, connections, seconds] = process.argv.slice(2)
const REQUEST = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: */*\r\nUser-Agent: bench\r\n\r\n`
const latenciesMs = []
let failures = 0
let running = true

class Connection {
  #socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
  #sentMs = 0
  #missing = 0
  #head = ''

  constructor() {
    this.#socket.on('connect', () => this.#send())
    this.#socket.on('data', chunk => this.#receive(chunk))
    this.#socket.on('error', () => this.#fail())
    this.#socket.on('end', () => this.#fail())
  }

  #send() {
    this.#sentMs = performance.now()
    this.#socket.write(REQUEST)
  }

  #receive(chunk) {
    if (this.#missing > 0) return this.#take(chunk.length)
    this.#head += chunk.latin1Slice()
    const end = this.#head.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)
    if (!this.#head.startsWith('HTTP/1.1 200') || length === null) return this.#fail()
    this.#missing = Number(length[1])
    const received = this.#head.length - end - 4
    this.#head = ''
    this.#take(received)
  }

  #take(bytes) {
    this.#missing -= bytes
    if (this.#missing > 0) return
    latenciesMs.push(performance.now() - this.#sentMs)
    if (running) this.#send()
    else this.#socket.destroy()
  }

  #fail() {
    if (running) failures += 1
    this.#socket.destroy()
  }
}

const startedMs = performance.now()
for (let i = 0; i < Number(connections); i++) new Connection()
setTimeout(() => {
  running = false
  const elapsedS = (performance.now() - startedMs) / 1000
  latenciesMs.sort((a, b) => a - b)
  const quantile = q => latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(q * latenciesMs.length))] ?? Number.NaN
  const requests = latenciesMs.length
  console.log(
    JSON.stringify({ requests, failures, perSecond: requests / elapsedS, p50Ms: quantile(0.5), p99Ms: quantile(0.99) }),
  )
  setTimeout(() => process.exit(0), 200)
}, Number(seconds) * 1000)
