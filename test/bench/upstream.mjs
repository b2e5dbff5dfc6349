// Answers every call with 1 KiB. `node upstream.mjs PORT`
import { createServer } from 'node:http'

const body = Buffer.alloc(1024, 'x')
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length })
  response.end(body)
})
server.keepAliveTimeout = 600_000
server.listen(Number(process.argv[2]), '127.0.0.1')
