import { connect } from 'node:net'

const STATUS_LINE = 'HTTP/1.1 '

/** Sends the requests on one connection, as fast as they are taken, and resolves when each has its answer. */
export function pipelined(port: number, requests: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(requests.join(''), 'latin1'))
    let answers = 0
    let tail = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      const text = tail + chunk
      answers += text.split(STATUS_LINE).length - 1
      // Too short to hold a whole one, which would be counted twice.
      tail = text.slice(-(STATUS_LINE.length - 1))
      if (answers >= requests.length) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (answers >= requests.length) resolve()
      else reject(new Error(`${answers} answers to ${requests.length} requests`))
    })
  })
}
