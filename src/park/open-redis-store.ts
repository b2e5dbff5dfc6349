import { createRequire } from 'node:module'
import type { Redis } from 'ioredis'
import { type BullMq, RedisStore } from './redis-store.js'
import type { StoreDeps } from './store.js'

/** A replica that is gone is noticed after so long, ms, and its entries go to the others. */
const LOCK_MS = 10_000
const CONNECT_MS = 5000
const COMMAND_MS = 5000

export interface RedisStoreOptions {
  /** Default 10 s. */
  readonly lockMs?: number
}

/** Rejects when no Redis answers there. */
export async function openRedisStore(
  url: string,
  deps: StoreDeps,
  options: RedisStoreOptions = {},
): Promise<RedisStore> {
  // CommonJS: now and then import() of it gives nothing on Node 20.
  const { Redis: Client } = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
  const bull = createRequire(import.meta.url)('bullmq') as BullMq
  const redis = new Client(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    // A call must not wait for its 202 until Redis is back.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  })
  const patient = new Client(url, { lazyConnect: true, connectTimeout: CONNECT_MS, maxRetriesPerRequest: null })
  for (const each of [redis, patient]) each.on('error', () => undefined)
  try {
    await redis.connect()
    await patient.connect()
  } catch (error) {
    redis.disconnect()
    patient.disconnect()
    throw error
  }
  await warnIfForgetful(redis, deps)
  const store = new RedisStore(bull, redis, patient, deps, options.lockMs ?? LOCK_MS)
  await store.begin()
  return store
}

/** Redis as it comes keeps what it holds in memory, and writes it to disk now and then. */
async function warnIfForgetful(redis: Redis, { onTrouble }: StoreDeps): Promise<void> {
  // Some that are rented refuse to tell; who rents one out keeps it safe.
  const answer = await redis.config('GET', 'appendonly').catch(() => [])
  if (Array.isArray(answer) && answer[1] === 'no') {
    onTrouble('this Redis has appendonly off: what is parked is lost when it dies; set appendonly yes')
  }
}
