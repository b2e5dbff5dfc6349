/** Where a tunnel to a host that nobody declared never leads: a name may resolve to anything, and the app may be fooled. */
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

type Net = readonly [address: string, bits: number]

const IPV4: Readonly<Record<string, readonly Net[]>> = {
  'not a host': [['0.0.0.0', 8]],
  loopback: [['127.0.0.0', 8]],
  // The metadata services of most clouds.
  'link-local': [['169.254.0.0', 16]],
  // Alibaba Cloud, Azure, Oracle Cloud.
  'a metadata service': [
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
    ['192.0.0.192', 32],
  ],
  multicast: [['224.0.0.0', 4]],
  'reserved or broadcast': [['240.0.0.0', 4]],
}

const IPV6: Readonly<Record<string, readonly Net[]>> = {
  'not a host': [['::', 128]],
  loopback: [['::1', 128]],
  'link-local': [['fe80::', 10]],
  // AWS, Google Cloud.
  'a metadata service': [
    ['fd00:ec2::', 32],
    ['fd20:ce::', 32],
  ],
  multicast: [['ff00::', 8]],
  // Teredo, and NAT64 of local use (RFC 8215): what IPv4 address they lead to cannot be told.
  'a translated address': [
    ['2001::', 32],
    ['64:ff9b:1::', 48],
  ],
}

/** IPv4 within IPv6: mapped and compatible (RFC 4291 §2.5.5), translated (RFC 2765), NAT64 (RFC 6052). */
const EMBEDDING = ['::ffff:', '::', '::ffff:0:', '64:ff9b::']

const NAMES: ReadonlySet<string> = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal'])

const LISTS: readonly (readonly [why: string, list: BlockList])[] = [
  ...Object.entries(IPV6).map(([why, nets]) => [why, ipv6List(nets)] as const),
  ...Object.entries(IPV4).map(([why, nets]) => [why, listOf(nets)] as const),
]

/** Why this address, or this name whatever its address, is not to be called; `null` = it may be. */
export function whyForbidden(host: string): string | null {
  const family = isIP(host)
  if (family === 0) return NAMES.has(host.toLowerCase().replace(/\.$/, '')) ? 'a metadata service' : null
  const type = family === 4 ? 'ipv4' : 'ipv6'
  for (const [why, list] of LISTS) if (list.check(host, type)) return why
  return ownAddresses().check(host, type) ? 'an address of this host' : null
}

/** Read anew: interfaces come and go. */
function ownAddresses(): BlockList {
  const list = new BlockList()
  for (const { address, family } of Object.values(networkInterfaces()).flatMap(infos => infos ?? [])) {
    if (family === 'IPv4') addIpv4(list, [address, 32])
    else list.addAddress(address.replace(/%.*/, ''), 'ipv6')
  }
  return list
}

function listOf(nets: readonly Net[]): BlockList {
  const list = new BlockList()
  for (const net of nets) addIpv4(list, net)
  return list
}

function ipv6List(nets: readonly Net[]): BlockList {
  const list = new BlockList()
  for (const [address, bits] of nets) list.addSubnet(address, bits, 'ipv6')
  return list
}

function addIpv4(list: BlockList, [address, bits]: Net): void {
  list.addSubnet(address, bits, 'ipv4')
  for (const prefix of EMBEDDING) list.addSubnet(`${prefix}${address}`, 96 + bits, 'ipv6')
  const hex = address.split('.').map(part => Number(part).toString(16).padStart(2, '0'))
  // 6to4 (RFC 3056): 2002, then the address.
  list.addSubnet(`2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::`, 16 + bits, 'ipv6')
}
