import { createRequire } from 'node:module'
import type { LogWriter } from './log-writer.js'

/** Fields of an access or a retry line, as `log-access.ts` writes them. */
type Line = Readonly<Record<string, unknown>>

/** Readable lines for a terminal, one each. pino-pretty is loaded only here: 15 ms and some MB that a pod has no use for. */
export function prettyStream(writer: LogWriter): { write(line: string): void } {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  const look = { colorize: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true } as const
  const operator = prettyFactory(look)
  const access = prettyFactory({ ...look, hideObject: true, messageFormat: line => sentenceOf(line) })
  return {
    write(line) {
      const text = /"msg":"re(?:quest|try)"/.test(line) ? access(line) : operator(line)
      // pino-pretty ends a line only where it printed an object.
      writer.write(text.endsWith('\n') ? text : `${text}\n`)
      writer.flush()
    },
  }
}

function sentenceOf(line: Line): string {
  const place = line['route'] === null ? line['upstream'] : `${line['upstream']}/${line['route']}`
  const call = `${place ?? 'no upstream'}  ${line['method']} ${line['path']}`
  if (line['msg'] === 'retry') {
    const what = line['status'] ?? line['error']
    return `${call}  attempt ${line['attempt']}: ${what}, again in ${line['delayMs']} ms`
  }
  const flags = line['flags'] === '-' ? '' : ` ${line['flags']}`
  const denied = line['denied'] === null || line['denied'] === line['outcome'] ? '' : ` (no retry: ${line['denied']})`
  const outcome = `${line['status']} ${line['outcome']}${flags}${denied}`
  const attempts = line['attempts'] === 1 ? '1 attempt' : `${line['attempts']} attempts`
  const hedged = line['hedges'] === 0 ? '' : ` (${line['hedges']} hedged)`
  const polls = line['polls'] === 0 ? '' : ` of ${line['polls'] === 1 ? '1 poll' : `${line['polls']} polls`}`
  return `${call}  ${outcome}  ${attempts}${hedged}${polls}, ${line['durationMs']} ms`
}
