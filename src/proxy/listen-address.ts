/** `host:port` of a listener, and binding to it. */
import type { AddressInfo, Server } from 'node:net'

export interface ListenAddress {
  /** Without brackets. */
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
}

/** A listener could not be bound; the message says where, why and what to do. */
export class BindError extends Error {
  readonly code: string
  constructor(address: string, code: string) {
    super(`cannot listen on ${address}: ${REMEDIES[code] ?? 'the system refused it'} (${code})`)
    this.code = code
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has this port; stop it or choose another port',
  EADDRNOTAVAIL: 'this host has no such address; use 127.0.0.1 or localhost',
  EINVAL: 'an address looks like 127.0.0.1:15080, [::1]:15080 or localhost:15080',
  EACCES: 'this user may not bind the port; choose one above 1023',
  ENOTFOUND: 'the host name is not known; use 127.0.0.1 or localhost',
}

/** `127.0.0.1:15080`, `[::1]:15080`, `localhost:15080`; anything else is `null`. */
export function parseListenAddress(text: string): ListenAddress | null {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? null : { host, port }
}

export function formatAddress(address: ListenAddress): string {
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`
}

/** `localhost` is both loopbacks: clients try either first. The second one may be missing on a host without IPv6. */
export function hostsOf(address: ListenAddress): { host: string; optional: boolean }[] {
  if (address.host !== 'localhost') return [{ host: address.host, optional: false }]
  return [
    { host: '127.0.0.1', optional: false },
    { host: '::1', optional: true },
  ]
}

/** Binds; rejects with `BindError`. */
export function bind(server: Server, address: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) =>
      reject(new BindError(formatAddress(address), error.code ?? 'unknown error'))
    server.once('error', refuse)
    server.listen({ host: address.host, port: address.port }, () => {
      server.removeListener('error', refuse)
      resolve({ host: address.host, port: (server.address() as AddressInfo).port })
    })
  })
}

/** The host lacks the address family, so an optional address can be left out. */
export function isMissingFamily(error: unknown): boolean {
  return error instanceof BindError && (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT')
}
