/** One sidecar in front of upstreams that misbehave, under policies whose clocks are short. */
import type { Socket } from 'node:net'
import { type Allowance, judge } from './exchange-judge.js'
import type { PlannedCall, PlannedConnection } from './exchange-plan.js'
import { FaultUpstream } from './fault-upstream.js'
import { heldSockets } from './held-sockets.js'
import { ample, type Document, quickRetry, upstreamDoc } from './policies.js'
import { freePort } from './ports.js'
import { play, type SeenCall } from './raw-app.js'
import type { Sidecar } from './sidecar.js'
import type { Stage } from './stage.js'
import { seeded, sleep, until } from './time.js'

/** Behind the last two there may be no HTTP at all. */
export const UPSTREAMS = ['once', 'retry', 'keyed', 'hedged', 'built-in', 'rude', 'refused'] as const

const timeouts = { connect: '200ms', attempt: '250ms', total: '800ms', idle: '200ms' }
const patient = { timeouts, budget: ample, breaker: { mode: 'disabled' } }

const POLICIES: Readonly<Record<(typeof UPSTREAMS)[number], Document>> = {
  once: { ...patient, retry: { maxAttempts: 1 } },
  retry: { ...patient, retry: quickRetry({ maxAttempts: 3 }) },
  keyed: { ...patient, retry: quickRetry({ maxAttempts: 4, idempotency: { generate: true } }) },
  hedged: {
    ...patient,
    retry: quickRetry({ maxAttempts: 4, idempotency: { generate: true } }),
    hedge: { after: '20ms', maxHedges: 2, keyedWrites: true },
  },
  'built-in': { timeouts },
  rude: { ...patient, retry: quickRetry({ maxAttempts: 3 }), pool: { maxConnections: 20, maxAge: '1s' } },
  refused: { ...patient, retry: quickRetry({ maxAttempts: 2 }) },
}

const MAX_ATTEMPTS = { once: 1, retry: 3, keyed: 4, hedged: 4, 'built-in': 5, rude: 3, refused: 2 }

/** What the process holds when nothing goes on. */
export interface AtRest {
  readonly descriptors: number
  readonly handles: Readonly<Record<string, number>>
}

/** Scripts of so many exchanges are kept: an attempt for an app that has left may still be on its way. */
const KEPT = 5_000

/** The policy directory is read now and then. */
const COME_AND_GO = ['CloseReq', 'FSReqPromise']

export class FaultStand {
  readonly allowances: ReadonlyMap<string, Allowance> = new Map(
    UPSTREAMS.map(name => [
      name,
      { maxAttempts: MAX_ATTEMPTS[name], alwaysKeyed: name === 'keyed' || name === 'hedged' },
    ]),
  )
  exchanges = 0

  private constructor(
    readonly sidecar: Sidecar,
    /** All scripts are played here; the rude one hands over to it. */
    readonly upstream: FaultUpstream,
    /** Of all upstreams behind which something listens. */
    readonly upstreamPorts: ReadonlySet<number>,
  ) {}

  static async start(stage: Stage, args: readonly string[] = []): Promise<FaultStand> {
    const upstream = await FaultUpstream.start()
    stage.later(() => upstream.close())
    const rude = await FaultUpstream.start(rudely(upstream, seeded(1)))
    stage.later(() => rude.close())
    const targets = { rude: rude.url, refused: `http://127.0.0.1:${await freePort()}` }
    const documents = UPSTREAMS.map(name =>
      upstreamDoc(name, name === 'rude' || name === 'refused' ? targets[name] : upstream.url, POLICIES[name]),
    )
    const sidecar = await stage.sidecar(documents, args, { probed: true })
    return new FaultStand(sidecar, upstream, new Set([upstream.port, rude.port]))
  }

  /** Gives what went wrong, with all that is needed to see why. */
  async run(plan: PlannedConnection): Promise<string[]> {
    const seen = await play(this.sidecar.port, plan, this.#script(plan.calls))
    const problems = judge(seen, this.upstream, this.allowances)
    return problems.map(
      one => `${one}\n${JSON.stringify({ ...plan, calls: seen.calls.map(call => this.#report(call)) })}`,
    )
  }

  /** What happened to one call, as seen from all sides. */
  #report(call: SeenCall) {
    const log = this.sidecar.logs.filter(line => String(line['path']).endsWith(`/${call.id}`))
    const answer = call.answer && { ...call.answer, body: call.answer.body.length }
    return { ...call, answer, hits: this.upstream.hitsOf(call.id), log }
  }

  /** Ids under which the upstream plays the replies of the calls. */
  #script(calls: readonly PlannedCall[]): string[] {
    return calls.map(({ replies, body }) => {
      const id = `e${++this.exchanges}`
      this.upstream.forgetBefore(this.exchanges - KEPT)
      this.upstream.scripts.set(id, { id, replies, bodyBytes: body?.bytes ?? 0 })
      return id
    })
  }

  /** Waits until no call is left, unused connections are closed and nothing changes any more. */
  async atRest(): Promise<AtRest> {
    await until('every call has ended', async () => (await this.#busy()).length === 0)
    await this.#disconnected()
    let last = ''
    return until('the process is at rest', async () => {
      const { handles } = await this.sidecar.probe()
      for (const kind of COME_AND_GO) delete handles[kind]
      const now = { descriptors: await this.sidecar.descriptors(), handles }
      const same = last === JSON.stringify(now)
      last = JSON.stringify(now)
      if (!same) await sleep(200)
      return same && now
    })
  }

  /** Unused connections are closed after four seconds. Of the rude upstream's own ends some never hear of it. */
  async #disconnected(): Promise<void> {
    const held = async () =>
      (await heldSockets(this.sidecar.pid)).filter(({ remotePort }) => this.upstreamPorts.has(remotePort))
    try {
      await until(
        'every connection to an upstream has ended',
        async () => this.upstream.sockets.size === 0 && (await held()).length === 0,
        8_000,
      )
    } catch (error) {
      const left = { sidecar: await held(), upstream: this.upstream.leftOpen() }
      throw new Error(`${error}; left are ${JSON.stringify(left)}`)
    }
  }

  async #busy(): Promise<string[]> {
    const { upstreams } = await this.sidecar.status()
    return Object.values(upstreams).flatMap(({ name, inFlight, waiting }) =>
      inFlight + waiting > 0 ? [`${name}: ${inFlight} in flight, ${waiting} waiting`] : [],
    )
  }
}

/** Some connections end, hang or talk before anything was asked; the others are ordinary. */
function rudely(upstream: FaultUpstream, random: () => number) {
  return (socket: Socket): boolean => {
    const dice = random()
    if (dice < 0.15) socket.resetAndDestroy()
    else if (dice < 0.3) socket.end()
    else if (dice < 0.4) socket.pause()
    else if (dice < 0.5) socket.write('SSH-2.0-OpenSSH_9.6\r\n')
    else upstream.serve(socket)
    return true
  }
}
