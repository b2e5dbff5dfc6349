// The least that answers HTTP, to compare start-up and memory with. `node bare-server.mjs PORT`
import { createServer } from 'node:http'

createServer((_request, response) => response.end('ok')).listen(Number(process.argv[2]), '127.0.0.1')
