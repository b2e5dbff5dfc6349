/** A name whose first address answers late, and whose second swallows every packet. */

import { once } from 'node:events'
import { request } from 'node:http'
import { get, hosts, SIDECAR_PORT, sh, sidecar, tell, upstream } from './town.mjs'

sh('ip link set lo up && ip -6 addr add 2001:db8::80/128 dev lo && ip addr add 192.0.2.80/32 dev lo')
// The system asks again after a second.
sh('ip6tables -A INPUT -d 2001:db8::80 -p tcp --syn -m statistic --mode nth --every 2 --packet 0 -j DROP')
sh('iptables -A INPUT -d 192.0.2.80 -p tcp -j DROP')
hosts('2001:db8::80 slow.test\n192.0.2.80 slow.test\n')
await upstream('slow', 8001, '2001:db8::80')
await sidecar({ slow: { target: 'http://slow.test:8001', retry: { maxAttempts: 1 } } })

/** The upstream knows no WebSocket: that it answers is all that is asked. */
async function handshake() {
  const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
  const req = request({ host: '127.0.0.1', port: SIDECAR_PORT, path: '/slow/x', agent: false, headers })
  const [res] = await once(req.end(), 'response')
  res.resume()
  return res.statusCode
}

tell({ call: (await get({ port: SIDECAR_PORT, path: '/slow/x' })).status, handshake: await handshake() })
