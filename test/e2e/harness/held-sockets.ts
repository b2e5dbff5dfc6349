/** What the system knows of the TCP connections that a process holds (Linux). */
import { readdir, readFile, readlink } from 'node:fs/promises'

/** As the kernel numbers them, from 1. */
const STATES = 'ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE CLOSE_WAIT LAST_ACK LISTEN CLOSING'

export interface HeldSocket {
  readonly localPort: number
  readonly remotePort: number
  readonly state: string
}

/** Without those that listen. */
export async function heldSockets(pid: number): Promise<HeldSocket[]> {
  const inodes = await socketInodes(pid)
  const table = (await readFile(`/proc/${pid}/net/tcp`, 'latin1')).split('\n').slice(1, -1)
  return table
    .map(line => line.trim().split(/\s+/))
    .filter(fields => inodes.has(fields[9] ?? ''))
    .map(([, local = '', remote = '', state = '']) => ({
      localPort: portOf(local),
      remotePort: portOf(remote),
      state: STATES.split(' ')[Number.parseInt(state, 16) - 1] ?? state,
    }))
    .filter(({ state }) => state !== 'LISTEN')
}

async function socketInodes(pid: number): Promise<Set<string>> {
  const names = await readdir(`/proc/${pid}/fd`)
  // Closed since it was listed.
  const links = await Promise.all(names.map(name => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return new Set(links.flatMap(link => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
}

const portOf = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16)
