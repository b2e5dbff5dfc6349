// The least that forwards HTTP over undici: no policy, no metrics, no log. `node bare-relay.mjs PORT TARGET_PORT`
import { createServer } from 'node:http'
import { Pool } from 'undici'

const [port, targetPort] = process.argv.slice(2).map(Number)
const pool = new Pool(`http://127.0.0.1:${targetPort}`, { connections: 256, pipelining: 1 })

class Relay {
  constructor(response) {
    this.response = response
  }
  onConnect(abort) {
    this.response.on('close', () => {
      if (!this.response.writableFinished) abort()
    })
  }
  onHeaders(status, raw, resume) {
    if (status < 200) return true
    this.response.on('drain', resume)
    this.response.writeHead(
      status,
      raw.map(bytes => bytes.latin1Slice()),
    )
    return true
  }
  onData(chunk) {
    return this.response.write(chunk)
  }
  onComplete() {
    this.response.end()
  }
  onError() {
    if (this.response.headersSent) this.response.destroy()
    else this.response.writeHead(502).end()
  }
}

function endToEnd(raw) {
  const headers = []
  for (let i = 0; i < raw.length; i += 2) {
    if (!/^(connection|keep-alive|transfer-encoding)$/i.test(raw[i])) headers.push(raw[i], raw[i + 1])
  }
  return headers
}

createServer((request, response) => {
  const { method, url: path, rawHeaders } = request
  const body = method === 'GET' || method === 'HEAD' ? null : request
  pool.dispatch({ method, path, headers: endToEnd(rawHeaders), body }, new Relay(response))
}).listen(port, '127.0.0.1')
