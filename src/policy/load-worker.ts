/** Entry of the thread that loads policies: one request in `workerData`, one answer, and it ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { packKnown, unpackKnown } from './known-documents.js'
import type { WorkerAnswer, WorkerRequest } from './load-in-worker.js'
import { loadHere } from './load-request.js'
import { packAnswer } from './load-wire.js'

const { known: before, held, ...request } = workerData as WorkerRequest
const { answer, known } = loadHere(request, () => (before === null ? new Map() : unpackKnown(before)))
const told: WorkerAnswer = { packed: packAnswer(answer, held), known: known === null ? before : packKnown(known) }
parentPort?.postMessage(told, told.known === null ? [] : [told.known.buffer])
