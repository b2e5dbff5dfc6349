import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where fetched tools lie: outside of the clone, so that they survive it and belong to no commit. */
export function toolsDirectory() {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return process.env.FORBEAR_TOOLS ?? join(cache, 'forbear-tools')
}
