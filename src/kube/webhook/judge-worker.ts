/** Entry of the thread that judges policies: a set in, its verdict out, as often as it is asked. */
import { parentPort } from 'node:worker_threads'
import { judgePolicies } from './judge.js'

parentPort?.on('message', (files: ReadonlyMap<string, string>) => parentPort?.postMessage(judgePolicies(files)))
