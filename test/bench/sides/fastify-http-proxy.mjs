// @fastify/http-proxy as its own page shows it. `node fastify-http-proxy.mjs PORT TARGET_PORT`
import httpProxy from '@fastify/http-proxy'
import fastify from 'fastify'

const [port, targetPort] = process.argv.slice(2).map(Number)
const server = fastify()
server.register(httpProxy, { upstream: `http://127.0.0.1:${targetPort}`, undici: { connections: 256 } })
await server.listen({ port, host: '127.0.0.1' })
