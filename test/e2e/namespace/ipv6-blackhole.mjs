/** A name with both families, of which IPv6 swallows every packet. */
import { get, hosts, SIDECAR_PORT, sh, sidecar, tell, upstream } from './town.mjs'

sh('ip link set lo up && ip -6 addr add 2001:db8::80/128 dev lo')
sh('ip6tables -A INPUT -d 2001:db8::80 -p tcp -j DROP')
hosts('2001:db8::80 both.test\n127.0.0.1 both.test\n')
await upstream('both', 8001)
await sidecar({ both: { target: 'http://both.test:8001', retry: { maxAttempts: 1 } } })
const call = () => get({ port: SIDECAR_PORT, path: '/both/x' })
tell({ first: await call(), order: sh('getent ahosts both.test | cut -d" " -f1 | uniq').trim().split('\n') })
