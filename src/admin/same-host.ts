/**
 * Keeps web pages away from the admin port: a browser on this host can reach it, but not without naming a foreign Host
 * (DNS rebinding) or a foreign Origin (cross-site request).
 */
import type { AdminRequest } from './http-server.js'

const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

export function isForeignHost({ host }: AdminRequest): boolean {
  return host === undefined || !LOCAL_HOST.test(host)
}

/**
 * An Origin other than this very host and port; programs other than browsers send none. Where a browser sends none, for
 * an image of a foreign page, say, it still tells whose page it was.
 */
export function isForeignOrigin({ host, origin, fetchSite }: AdminRequest): boolean {
  if (fetchSite === 'cross-site' || fetchSite === 'same-site') return true
  return origin !== undefined && origin.toLowerCase() !== `http://${host?.toLowerCase()}`
}
