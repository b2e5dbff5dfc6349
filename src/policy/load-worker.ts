/** Entry of the thread that loads policies: one request in `workerData`, one answer, and it ends. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { packKnown, unpackKnown } from './known-documents.js'
import type { WorkerAnswer, WorkerRequest } from './load-in-worker.js'
import { loadHere } from './load-request.js'
import { packAnswer } from './load-wire.js'

/** A tenth of the weight of the thread that serves requests, where both must share a core: a load still ends in time. */
const NICENESS = 10

yieldToRequests()
const { known: before, held, ...request } = workerData as WorkerRequest
const { answer, known } = loadHere(request, () => (before === null ? new Map() : unpackKnown(before)))
const told: WorkerAnswer = { packed: packAnswer(answer, held), known: known === null ? before : packKnown(known) }
parentPort?.postMessage(told)

function yieldToRequests(): void {
  try {
    // On Linux each thread has a priority of its own, under its own id.
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICENESS)
  } catch {
    // Elsewhere the threads are equals.
  }
}
