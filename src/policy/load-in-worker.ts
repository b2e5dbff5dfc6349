import { Worker } from 'node:worker_threads'
import type { LoadAnswer, LoadRequest } from './load-request.js'
import { type PackedAnswer, unpackAnswer } from './load-wire.js'

const ENTRY = new URL('./load-worker.js', import.meta.url)
/** Hundreds of upstreams need a tenth of it; a document made to explode ends its thread and not the sidecar. */
const MAX_HEAP_MB = 256

/**
 * Loads policies in a thread of its own that lives as long as the load, so that parsing blocks no request and an idle
 * sidecar holds no second heap. Rejects when the thread ends without an answer.
 */
export async function loadInWorker(request: LoadRequest, signal: AbortSignal): Promise<LoadAnswer> {
  return unpackAnswer(await answerOf(request, signal))
}

function answerOf(request: LoadRequest, signal: AbortSignal): Promise<PackedAnswer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(ENTRY, {
      workerData: request,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
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
