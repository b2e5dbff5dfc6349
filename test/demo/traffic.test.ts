import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { Traffic } from '../../src/demo/traffic.js'

it('sends five calls a second until it is stopped, whatever comes back', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (seen.length === 2) request.socket.resetAndDestroy()
    else response.writeHead(503).end('no')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const clock = new VirtualClock()
  const traffic = new Traffic(clock, `http://127.0.0.1:${(server.address() as AddressInfo).port}/flaky`)
  traffic.start()
  for (let call = 1; call <= 5; call++) {
    await clock.advance(200)
    while (seen.length < call) await new Promise(resolve => setTimeout(resolve, 1))
  }
  traffic.stop()
  await clock.advance(1000)
  expect(clock.pendingTimers).toBe(0)
  expect(seen).toEqual([1, 2, 3, 4, 5].map(order => `GET /flaky/orders/${order}`))
  server.closeAllConnections()
  server.close()
})
