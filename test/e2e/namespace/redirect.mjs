/** All that the app sends to port 80, wherever to, iptables hands to the sidecar, which finds the upstream by Host. */
import { get, SIDECAR_PORT, sh, sidecar, tell, upstream } from './town.mjs'

// An address that the kernel has a way to, and where nobody listens on port 80.
sh('ip link set lo up && ip addr add 10.9.0.80/32 dev lo')
sh(`iptables -t nat -A OUTPUT -p tcp --dport 80 -j REDIRECT --to-ports ${SIDECAR_PORT}`)
await upstream('payments', 8001)
await upstream('orders', 8002)
const { requestLines } = await sidecar({
  payments: { target: 'http://127.0.0.1:8001', match: { hosts: ['payments.internal'] } },
  orders: { target: 'http://127.0.0.1:8002/v2', match: { hosts: ['orders.internal'] } },
})
/** As the app would after it had resolved the name: it knows of no proxy. */
const app = host => get({ host: '10.9.0.80', port: 80, path: '/x?y=1', headers: { Host: host } })
tell({
  answers: [await app('payments.internal'), await app('orders.internal:80'), await app('strangers.internal')],
  lines: await requestLines(3),
})
