import type { ParkStore, StoreDeps } from './store.js'

/** Loads what the store stands on only now: most sidecars park nothing. */
export async function openStore(location: string, deps: StoreDeps): Promise<ParkStore> {
  if (location.startsWith('/')) {
    const { openLevelStore } = await import('./level-store.js')
    return openLevelStore(location, deps)
  }
  const { openRedisStore } = await import('./open-redis-store.js')
  return openRedisStore(location, deps)
}
