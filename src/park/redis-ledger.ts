/** What BullMQ does not keep: how much the entries take together, and which of them are for the same target. */
import type { Redis } from 'ioredis'
import { digest } from './record.js'
import { MAX_ENTRIES } from './store.js'

const PREFIX = 'forbear:parked'
const SIZES = `${PREFIX}:sizes`
/** A field of `SIZES` that no id can be. */
const TOTAL = '*total'
/** A reservation whose entry never came, since its sidecar died in between, is given back after so long. */
const ORPHAN_MS = 60_000
/** What became of a cancelled one is told for so long, s. */
const TOLD_S = 86_400

/** One step on the server, so that replicas cannot both take the last room. */
const RESERVE = `
local total = tonumber(redis.call('HGET', KEYS[1], '${TOTAL}') or '0')
if total + tonumber(ARGV[2]) > tonumber(ARGV[3]) or redis.call('HLEN', KEYS[1]) > ${MAX_ENTRIES} then return 0 end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[4]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], '${TOTAL}', ARGV[2])
redis.call('SADD', KEYS[2], ARGV[1])
return 1`

const RELEASE = `
local size = redis.call('HGET', KEYS[1], ARGV[1])
if not size then return 0 end
local bytes, target = size:match('^(%d+) (.*)$')
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HINCRBY', KEYS[1], '${TOTAL}', -tonumber(bytes))
redis.call('SREM', '${PREFIX}:target:' .. target, ARGV[1])
return 1`

export interface Target {
  readonly upstream: string
  readonly method: string
  readonly path: string
}

export class RedisLedger {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** `false` = there is no room. */
  async reserve(id: string, target: Target, bytes: number, maxBytes: number): Promise<boolean> {
    const hash = hashOf(target)
    return (await this.#redis.eval(RESERVE, 2, SIZES, keyOf(hash), id, bytes, maxBytes, hash)) === 1
  }

  async release(id: string): Promise<void> {
    await this.#redis.eval(RELEASE, 1, SIZES, id)
  }

  async bytes(): Promise<number> {
    return Number((await this.#redis.hget(SIZES, TOTAL)) ?? 0)
  }

  /** Ids of what waits, or is dead, for the same target. */
  idsFor(target: Target): Promise<string[]> {
    return this.#redis.smembers(keyOf(hashOf(target)))
  }

  /** Gives back what was reserved for entries that are not there; an id begins with its time. */
  async giveBackOrphans(exists: (id: string) => Promise<boolean>, nowMs: number): Promise<void> {
    for (const id of await this.#redis.hkeys(SIZES)) {
      if (id === TOTAL || nowMs - Number.parseInt(id, 36) < ORPHAN_MS) continue
      if (!(await exists(id))) await this.release(id)
    }
  }

  async tell(id: string, text: string): Promise<void> {
    await this.#redis.set(`${PREFIX}:told:${id}`, text, 'EX', TOLD_S)
  }

  told(id: string): Promise<string | null> {
    return this.#redis.get(`${PREFIX}:told:${id}`)
  }
}

function hashOf({ upstream, method, path }: Target): string {
  return digest(`${upstream}\n${method}\n${path}`)
}

function keyOf(hash: string): string {
  return `${PREFIX}:target:${hash}`
}
