/** An upstream that answers a handshake with anything but 101: its answer goes to the app whole, then the socket closes. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { RawHeaders } from '../pipeline/ports.js'
import { AppResponse } from './app-response.js'
import { forwardResponseHeaders } from './headers.js'
import { cleanStatusText } from './wire-text.js'

export function relayRefusal(
  request: IncomingMessage,
  socket: Socket,
  response: IncomingMessage,
  via: string,
  extra: RawHeaders,
): void {
  const status = response.statusCode ?? 0
  const answer = new AppResponse(request)
  answer.shouldKeepAlive = false
  answer.assignSocket(socket)
  // The server's own listener went away with the upgrade.
  socket.on('drain', () => answer.emit('drain'))
  const fields = forwardResponseHeaders(response.rawHeaders, via, { length: 'keep', canChunk: false })
  answer.writeHead(status, cleanStatusText(status, response.statusMessage ?? ''), [...fields, ...extra])
  // The refusal is known now; its body may never come.
  answer.flushHead()
  pipeline(response, answer, error => {
    if (error == null) socket.destroySoon()
    else socket.destroy()
  })
}
