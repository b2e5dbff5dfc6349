import { createSocket } from 'node:dgram'

export type Records = Readonly<
  Record<string, 'nxdomain' | 'servfail' | { readonly a?: string; readonly aaaa?: Buffer }>
>

/** A DNS server on loopback; names that are not listed do not exist. */
export async function nameServer(records: Records) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    asked.push(`${name} ${type === 1 ? 'A' : 'AAAA'}`)
    socket.send(reply(query.subarray(0, end), records[name] ?? 'nxdomain', type), from.port, from.address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const stop = () => new Promise<void>(resolve => socket.close(() => resolve()))
  return { address: `127.0.0.1:${socket.address().port}`, asked, stop }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function reply(question: Buffer, record: Records[string], type: number): Buffer {
  const data =
    typeof record === 'string'
      ? undefined
      : type === 1
        ? record.a && Buffer.from(record.a.split('.').map(Number))
        : record.aaaa
  const head = Buffer.from(question)
  const code = record === 'nxdomain' ? 3 : record === 'servfail' ? 2 : 0
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(data ? 1 : 0, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  if (!data) return head
  const answer = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 30, 0, data.length])
  return Buffer.concat([head, answer, data])
}
