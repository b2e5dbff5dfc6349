/** Entry of the thread that loads policies: one request in `workerData`, one answer, and it ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { type LoadRequest, loadHere } from './load-request.js'
import { packAnswer } from './load-wire.js'

parentPort?.postMessage(packAnswer(loadHere(workerData as LoadRequest)))
