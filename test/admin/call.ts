import { request } from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** One request with any Host, which fetch would not let through. */
export function call(
  address: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { hostname, port } = new URL(`http://${address}`)
  return new Promise((resolve, reject) => {
    const options = { host: hostname.replace(/[[\]]/g, ''), port, method, path, headers, agent: false as const }
    const outgoing = request(options, response => {
      let body = ''
      response.setEncoding('utf8').on('data', chunk => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      response.on('error', reject)
    })
    outgoing.on('error', reject).end()
  })
}
