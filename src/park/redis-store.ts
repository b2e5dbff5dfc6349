/** The store that replicas share: a BullMQ queue on Redis. An entry is a job, and whoever holds its lock delivers it. */
import type { Job, Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { cancels, type Sameness } from '../core/park.js'
import { afterVerdict, ended, isEntryId, isRecord, type ParkedRecord, recordBytes, revived } from './record.js'
import { RedisLedger } from './redis-ledger.js'
import { RedisUsage } from './redis-usage.js'
import { CONCURRENCY, type Deliver, MAX_TOLD, type ParkStore, type StoreDeps, type Usage } from './store.js'

export interface ParkedJob {
  readonly record: ParkedRecord
  /** base64 */
  readonly body: string
}

export type BullMq = typeof import('bullmq')

const QUEUE = 'forbear-parked'
/** It may happen to an entry as often as it likes: it is maxAttempts that ends it. */
const MAX_STALLS = 1_000_000
/** What Redis failed to take note of is done again, however often. An end that we give it is final all the same. */
const JOB_OPTIONS = {
  attempts: 1_000_000,
  backoff: { type: 'fixed', delay: 5000 },
  removeOnComplete: { count: MAX_TOLD },
  removeOnFail: false,
} as const
/** While Redis is gone, every try to reach it fails: one line in so many ms says it. */
const SAY_AGAIN_MS = 60_000
/** Redeliveries under way get so long to end. */
const CLOSE_MS = 1000
/** Entries that make room for one at a time. */
const MAKE_ROOM = 20

export class RedisStore implements ParkStore {
  readonly #bull: BullMq
  readonly #redis: Redis
  readonly #patient: Redis
  readonly #deps: StoreDeps
  readonly #lockMs: number
  readonly #queue: Queue<ParkedJob>
  readonly #ledger: RedisLedger
  #worker: Worker<ParkedJob> | null = null
  readonly #usage: RedisUsage
  readonly #underWay = new Set<Promise<void>>()
  #quietUntilMs = 0
  #closed = false

  constructor(bull: BullMq, redis: Redis, patient: Redis, deps: StoreDeps, lockMs: number) {
    this.#bull = bull
    this.#redis = redis
    this.#patient = patient
    this.#deps = deps
    this.#lockMs = lockMs
    this.#ledger = new RedisLedger(redis)
    this.#queue = new bull.Queue<ParkedJob>(QUEUE, { connection: redis, prefix: 'forbear' })
    this.#usage = new RedisUsage(this.#queue, this.#ledger, deps.clock)
    this.#queue.on('error', error => this.#trouble(error))
  }

  async begin(): Promise<void> {
    await this.#queue.waitUntilReady()
    await this.#ledger.giveBackOrphans(async id => (await this.#job(id)) !== undefined, this.#deps.clock.wallMs())
    await this.#usage.begin()
  }

  usage(): Usage {
    return this.#usage.now
  }

  hasRoom(bytes: number, maxBytes: number): boolean {
    return this.#usage.hasRoom(bytes, maxBytes)
  }

  async add(record: ParkedRecord, body: Uint8Array): Promise<'added' | 'full'> {
    if (this.#redis.status !== 'ready') throw new Error('Redis is not connected')
    const bytes = recordBytes(record)
    const { maxBytes } = record.settings
    while (!(await this.#ledger.reserve(record.id, record, bytes, maxBytes))) {
      if (!(await this.#makeRoom())) return 'full'
    }
    const delay = Math.max(0, record.dueAtMs - this.#deps.clock.wallMs())
    const options = { ...JOB_OPTIONS, jobId: record.id, delay }
    try {
      await this.#queue.add('call', { record, body: Buffer.from(body).toString('base64') }, options)
    } catch (error) {
      this.#disown(record)
      throw error
    }
    this.#usage.added(bytes)
    return 'added'
  }

  start(deliver: Deliver): void {
    this.#worker = new this.#bull.Worker<ParkedJob>(
      QUEUE,
      (job, token) => this.#track(this.#process(job, token, deliver)),
      {
        connection: this.#patient,
        prefix: 'forbear',
        concurrency: CONCURRENCY,
        lockDuration: this.#lockMs,
        stalledInterval: this.#lockMs,
        maxStalledCount: MAX_STALLS,
        removeOnComplete: { count: MAX_TOLD },
      },
    )
    this.#worker.on('error', error => this.#trouble(error))
  }

  async list(): Promise<readonly ParkedRecord[]> {
    const jobs = await this.#queue.getJobs(['delayed', 'waiting', 'active', 'prioritized', 'completed', 'failed'])
    const records = jobs.flatMap(job => (isRecord(job?.data.record) ? [job.data.record] : []))
    return records.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  async get(id: string): Promise<{ record: ParkedRecord; body: Uint8Array | null } | null> {
    const job = await this.#job(id)
    if (job !== undefined) {
      const { record, body } = job.data
      return { record, body: isDone(record) ? null : Buffer.from(body, 'base64') }
    }
    const told = await this.#ledger.told(id)
    return told === null ? null : { record: JSON.parse(told) as ParkedRecord, body: null }
  }

  async retry(id: string): Promise<boolean> {
    const job = await this.#job(id)
    if (job === undefined) return false
    const record = revived(job.data.record, this.#deps.clock.wallMs())
    if (await job.isDelayed()) {
      await job.updateData({ ...job.data, record })
      await job.promote()
      return true
    }
    if (!(await job.isFailed())) return job.isWaiting()
    await job.updateData({ ...job.data, record })
    await job.retry('failed')
    return true
  }

  async drop(id: string): Promise<boolean> {
    const job = await this.#job(id)
    if (job === undefined || (await job.isActive())) return false
    await job.remove()
    await this.#ledger.release(id)
    return true
  }

  async cancel(success: Sameness, except?: string): Promise<readonly ParkedRecord[]> {
    const cancelled: ParkedRecord[] = []
    for (const id of await this.#ledger.idsFor(success)) {
      if (id === except) continue
      const job = await this.#job(id)
      if (job === undefined || job.data.record.state !== 'waiting' || !cancels(success, job.data.record)) continue
      const record = ended(job.data.record, 'cancelled', this.#deps.clock.wallMs())
      // Told first: one that is being delivered finds it when it comes back.
      await this.#ledger.tell(id, JSON.stringify(record))
      cancelled.push(record)
      if (!(await job.isActive())) await this.drop(id)
    }
    return cancelled
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#usage.stop()
    const patience = new Promise<void>(resolve => this.#deps.clock.after(CLOSE_MS, resolve))
    await Promise.race([this.#finish(), patience])
    // What is still being delivered keeps its lock, and goes to another replica when that runs out.
    void this.#worker?.close(true).catch(() => undefined)
    void this.#queue.close().catch(() => undefined)
    this.#redis.disconnect()
    this.#patient.disconnect()
  }

  async #finish(): Promise<void> {
    await this.#worker?.pause(true).catch(() => undefined)
    await Promise.allSettled(this.#underWay)
  }

  #job(id: string): Promise<Job<ParkedJob> | undefined> {
    return isEntryId(id) ? this.#queue.getJob(id) : Promise.resolve(undefined)
  }

  /** Redis may have taken it all the same, but the app was told that its call failed. Said as soon as Redis hears it. */
  #disown(record: ParkedRecord): void {
    const ledger = new RedisLedger(this.#patient)
    const last = ended(record, 'cancelled', this.#deps.clock.wallMs())
    void Promise.allSettled([ledger.tell(record.id, JSON.stringify(last)), ledger.release(record.id)])
  }

  #track(work: Promise<void>): Promise<void> {
    this.#underWay.add(work)
    const done = (): void => void this.#underWay.delete(work)
    work.then(done, done)
    return work
  }

  async #process(job: Job<ParkedJob>, token: string | undefined, deliver: Deliver): Promise<void> {
    const { record, body } = job.data
    const { id } = record
    if (await this.#endTold(job)) return
    const verdict = await deliver(record, Buffer.from(body, 'base64'))
    const next = afterVerdict(record, verdict, this.#deps.clock.wallMs())
    if (verdict.next === 'delivered') {
      await this.#ledger.release(id)
      return job.updateData({ record: next, body: '' })
    }
    if (await this.#endTold(job)) return
    await job.updateData({ record: next, body })
    if (verdict.next === 'dead') throw new this.#bull.UnrecoverableError(verdict.why)
    await job.moveToDelayed(verdict.dueAtMs, token)
    throw new this.#bull.DelayedError()
  }

  /** Whether it was cancelled meanwhile. */
  async #endTold(job: Job<ParkedJob>): Promise<boolean> {
    const { record } = job.data
    const told = await this.#ledger.told(record.id)
    if (told === null) return false
    await this.#ledger.release(record.id)
    await job.updateData({ record: JSON.parse(told) as ParkedRecord, body: '' })
    return true
  }

  /** `false` = nothing has ended. */
  async #makeRoom(): Promise<boolean> {
    const failed = await this.#queue.getJobs(['failed'], 0, MAKE_ROOM - 1, true)
    for (const job of failed) if (job !== undefined) await this.drop(job.data.record.id)
    return failed.length > 0
  }

  #trouble(error: Error): void {
    const nowMs = this.#deps.clock.nowMs()
    if (this.#closed || nowMs < this.#quietUntilMs) return
    this.#quietUntilMs = nowMs + SAY_AGAIN_MS
    this.#deps.onTrouble(`Redis: ${error.message}`)
  }
}

function isDone({ state }: ParkedRecord): boolean {
  return state === 'delivered' || state === 'cancelled'
}
