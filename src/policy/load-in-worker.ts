import { Worker } from 'node:worker_threads'
import type { Snapshot } from '../core/snapshot.js'
import { type KnownDocuments, packKnown } from './known-documents.js'
import { knownAfter, type LoadResult, loadDocuments } from './load.js'
import type { Load, LoadRequest } from './load-request.js'
import { type HeldUpstreams, heldOf, type PackedAnswer, unpackAnswer } from './load-wire.js'
import { readDocuments } from './read-documents.js'
import { readPolicyDirectory } from './source.js'

const ENTRY = new URL('./load-worker.js', import.meta.url)
/** Hundreds of upstreams need a tenth of it; a document made to explode ends its thread and not the sidecar. */
const MAX_HEAP_MB = 256
/** What a load makes dies with its thread: room for the young costs memory and spares next to no collection. */
const MAX_YOUNG_MB = 4

export interface WorkerRequest extends LoadRequest {
  readonly known: Uint8Array<ArrayBuffer> | null
  /** Digests of upstreams that need not be sent. */
  readonly held: ReadonlySet<string>
}

export interface WorkerAnswer {
  readonly packed: PackedAnswer
  readonly known: Uint8Array<ArrayBuffer> | null
}

/**
 * Loads policies in a thread of its own that lives as long as the load, so that parsing blocks no request and an idle
 * sidecar holds no second heap. What the next load need not do again is kept here in between, as bytes that belong to one
 * thread at a time: memory that threads share is freed by a collection that an idle sidecar has no reason to make. One
 * load at a time.
 */
export class WorkerLoader {
  #known: Uint8Array<ArrayBuffer> | null = null
  #held: HeldUpstreams = new Map()

  /** Takes over what was loaded in this thread. */
  adopt(known: KnownDocuments, snapshot: Snapshot): void {
    this.#known = packKnown(known)
    this.#held = heldOf(snapshot)
  }

  /** Rejects when the thread ends without an answer. */
  readonly load: Load = async (request, signal) => {
    const asked = { ...request, known: this.#known, held: new Set(this.#held.keys()) }
    // It is the thread's from here on; one that ends without an answer takes it along, and the next parses everything.
    this.#known = null
    const { packed, known } = await answerOf(asked, signal)
    const { answer, held } = await unpackAnswer(packed, this.#held)
    this.#known = known
    this.#held = held
    return answer
  }
}

/** The first load, in this thread, since nothing is served yet; `load` is for those after it. */
export function loadAtStart(
  dir: string,
  mode: LoadRequest['mode'],
): { readonly loaded: LoadResult; readonly load: Load } {
  const source = readPolicyDirectory(dir)
  const set = readDocuments(source)
  const loaded = loadDocuments(source, set, { mode, generation: 1 })
  const snapshot = loaded.ok ? loaded.snapshot : loaded.partial
  const loader = new WorkerLoader()
  if (snapshot !== undefined) loader.adopt(loaded.ok ? set.known : knownAfter(set), snapshot)
  return { loaded, load: loader.load }
}

function answerOf(request: WorkerRequest, signal: AbortSignal): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(ENTRY, {
      workerData: request,
      transferList: request.known === null ? [] : [request.known.buffer],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // Flags of the process, such as a debugger's port, are not for this thread.
      execArgv: [],
    })
    const stop = (): void => void worker.terminate()
    signal.addEventListener('abort', stop, { once: true })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', code => {
      signal.removeEventListener('abort', stop)
      reject(new Error(`the loading thread ended with code ${code} and no answer`))
    })
  })
}
