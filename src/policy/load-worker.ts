/** Entry of the thread that loads policies: one request in `workerData`, one answer, and it ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { type LoadRequest, loadHere } from './load-request.js'

parentPort?.postMessage(loadHere(workerData as LoadRequest))
