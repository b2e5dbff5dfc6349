/** What people and tools are shown of parked calls. */
import type { ParkedRecord, ParkedState } from './record.js'
import type { ParkStore } from './store.js'

/** No header value, query or body. */
export interface ParkedView {
  readonly id: string
  readonly state: ParkedState
  readonly upstream: string
  readonly route: string | null
  readonly method: string
  readonly path: string
  /** How the app's own call ended. */
  readonly outcome: string
  /** Redeliveries so far. */
  readonly attempts: number
  /** How the last one went. */
  readonly last: string | null
  readonly parkedAt: string
  /** `null` = no further redelivery. */
  readonly dueAt: string | null
  readonly endedAt: string | null
  readonly headers: readonly string[]
  readonly bodyBytes: number
  readonly traceId: string | null
}

export interface ParkedCalls {
  list(): Promise<readonly ParkedView[]>
  show(id: string): Promise<ParkedView | null>
  /** Due now; `false` = there is no such entry, or it needs no redelivery. */
  retry(id: string): Promise<boolean>
  /** `false` = there is no such entry, or it is being delivered. */
  drop(id: string): Promise<boolean>
  /** One JSON text a line: whole entries as they are stored, what is secret still encrypted. */
  exported(): Promise<string>
}

const READ_AT_A_TIME = 100

/** Over several stores. */
export function parkedCalls(stores: () => readonly ParkStore[]): ParkedCalls {
  const first = async (ask: (store: ParkStore) => Promise<boolean>): Promise<boolean> => {
    for (const store of stores()) if (await ask(store)) return true
    return false
  }
  return {
    list: async () => (await recordsOf(stores())).map(({ record }) => viewOf(record)),
    show: async id => {
      for (const store of stores()) {
        const found = await store.get(id)
        if (found !== null) return viewOf(found.record)
      }
      return null
    },
    retry: id => first(store => store.retry(id)),
    drop: id => first(store => store.drop(id)),
    exported: async () => {
      const found = await recordsOf(stores())
      const lines: string[] = []
      for (let at = 0; at < found.length; at += READ_AT_A_TIME) {
        lines.push(...(await Promise.all(found.slice(at, at + READ_AT_A_TIME).map(exportedLine))))
      }
      return lines.join('')
    },
  }
}

async function exportedLine({ store, record }: { store: ParkStore; record: ParkedRecord }): Promise<string> {
  const { settings: _, ...rest } = record
  const body = (await store.get(record.id))?.body ?? null
  return `${JSON.stringify({ ...rest, body: body === null ? null : Buffer.from(body).toString('base64') })}\n`
}

async function recordsOf(stores: readonly ParkStore[]): Promise<{ store: ParkStore; record: ParkedRecord }[]> {
  const lists = await Promise.all(stores.map(async store => (await store.list()).map(record => ({ store, record }))))
  return lists.flat().sort((a, b) => (a.record.id < b.record.id ? -1 : 1))
}

function viewOf(record: ParkedRecord): ParkedView {
  const { id, state, upstream, route, method, outcome, attempts, last, bodyBytes, traceId } = record
  return {
    id,
    state,
    upstream,
    route,
    method,
    path: pathOnly(record.path),
    outcome,
    attempts,
    last,
    parkedAt: new Date(record.parkedAtMs).toISOString(),
    dueAt: state === 'waiting' ? new Date(record.dueAtMs).toISOString() : null,
    endedAt: record.endedAtMs === null ? null : new Date(record.endedAtMs).toISOString(),
    headers: record.headers.map(([name]) => name),
    bodyBytes,
    traceId,
  }
}

/** The query may hold secrets. */
export function pathOnly(path: string): string {
  return path.split('?', 1)[0] as string
}
