// http-proxy 1.18.1, the usual set-up plus keep-alive towards the target. `node http-proxy-1.mjs PORT TARGET_PORT`
import { Agent, createServer } from 'node:http'
import httpProxy from 'http-proxy-1'

const [port, targetPort] = process.argv.slice(2).map(Number)
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
const proxy = httpProxy.createProxyServer({ target: { host: '127.0.0.1', port: targetPort }, agent })

proxy.on('error', (_error, _request, response) => response.destroy())
createServer((request, response) => proxy.web(request, response)).listen(port, '127.0.0.1')
