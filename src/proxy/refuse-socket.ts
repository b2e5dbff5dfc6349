/** Answers on a bare socket, where Node's HTTP server has given up or handed the socket over. */
import type { Duplex } from 'node:stream'
import type { OwnAnswer } from '../pipeline/answers.js'

/** How long the app may still read the answer before its connection is destroyed, ms. */
const LINGER_MS = 1000

export function answerText(answer: OwnAnswer, extra: readonly string[] = []): string {
  let text = `HTTP/1.1 ${answer.status} ${answer.statusText}\r\n`
  for (const fields of [answer.headers, extra]) {
    for (let i = 0; i + 1 < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`
  }
  return `${text}Date: ${new Date().toUTCString()}\r\nConnection: close\r\n\r\n${answer.body}`
}

/** Sends the answer and closes. What the app still sends is read for a while: an early close would reset the answer away. */
export function refuseSocket(socket: Duplex, answer: OwnAnswer): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(answerText(answer), 'latin1')
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), LINGER_MS)
  linger.unref()
  socket.once('close', () => clearTimeout(linger))
  // The app has read it and closed its side.
  socket.once('end', () => socket.destroy())
}
