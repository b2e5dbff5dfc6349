import type { Dispatcher } from 'undici'
import type { AttemptRequest } from '../pipeline/ports.js'
import type { ProxyDownstream } from './downstream-port.js'
import { requestHeaders } from './raw-headers.js'
import type { Upload } from './upload.js'

/** One attempt's request as undici takes it. */
export function wireRequest(
  request: AttemptRequest,
  downstream: ProxyDownstream,
  upload: Upload,
): Dispatcher.DispatchOptions {
  const { target, hostHeader } = request.upstream
  const host = hostHeader === 'preserve' ? (downstream.host ?? target.authority) : target.authority
  const options = {
    path: target.basePath + downstream.path,
    method: downstream.method as Dispatcher.HttpMethod,
    headers: requestHeaders(host, downstream.forwardHeaders, request.set, upload.contentLength),
    body: upload.stream,
  }
  // undici would close the connection after a HEAD, for servers that wrongly send a body; such bytes are noticed.
  return options.method === 'HEAD' && options.body === null ? { ...options, reset: false } : options
}
