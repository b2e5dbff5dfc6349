/**
 * Renders events as JSON lines (pino): one access-log line a request, one line a retry, one line for whatever an
 * operator should see of breakers, gates, policies and listeners.
 */
import pino from 'pino'
import { type AccessLog, accessFilter, DEFAULT_SAMPLE } from './access-filter.js'
import type { AttemptFinished, EventSink, ForbearEvent, HedgeDecided, PollJudged, RetryDenied } from './events.js'
import { accessFields, fallbackFields, faultFields, retryFields, tunnelFields } from './log-access.js'
import { operatorLine } from './log-operator.js'
import { prettyStream } from './log-pretty.js'
import { createLogWriter, type LogWriter } from './log-writer.js'

export type { AccessLog } from './access-filter.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>

export interface LogOptions {
  readonly level: LogLevel
  readonly accessLog: AccessLog
  /** With `sampled`, one of so many plain requests; default 100. */
  readonly accessLogSample?: number | undefined
  /** Coloured text for a terminal instead of JSON. */
  readonly pretty: boolean
  /** Default: standard output. */
  readonly destination?: LogWriter
}

export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export interface LogSink extends EventSink {
  readonly log: Log
  /** Writes everything out, waiting at most 2 s for a reader that has stopped reading; from now on each line is written before the call returns. */
  leave(): void
}

const FLUSH_PATIENCE_MS = 2000

export function createLogSink(options: LogOptions): LogSink {
  const writer = options.destination ?? createLogWriter()
  const stream = options.pretty ? prettyStream(writer) : writer
  const timestamp = isoTimestamp()
  const operator = pino({ level: options.level, base: null, timestamp }, stream)
  const wanted = accessFilter(options.accessLog, options.accessLogSample ?? DEFAULT_SAMPLE)
  const debug = operator.isLevelEnabled('debug')
  let reportedLost = 0
  let leaving = false
  let refusedInSecond = 0

  /** Operators' lines appear at once; access lines are gathered. */
  function say(level: LogLevel, message: string, fields: LogFields): void {
    operator[level](fields, message)
    if (leaving) writer.drain(FLUSH_PATIENCE_MS)
    else writer.flush()
    reportLost()
  }

  /** In pino's format, at a third of the cost of its general way. */
  function access(level: LogLevel, fields: string): void {
    stream.write(`{"level":${pino.levels.values[level]}${timestamp()},${fields}\n`)
    if (leaving) writer.drain(FLUSH_PATIENCE_MS)
  }

  function reportLost(): void {
    const lost = writer.lostLines - reportedLost
    if (lost === 0) return
    reportedLost = writer.lostLines
    operator.warn({ lines: lost }, 'log lines were lost: the reader of the log is gone or too slow')
  }

  function emit(event: ForbearEvent): void {
    if (event.type === 'request-finished') {
      if (wanted(event)) access(event.status >= 500 ? 'warn' : 'info', accessFields(event))
    } else if (event.type === 'retry-scheduled') {
      if (options.accessLog !== 'off') access('info', retryFields(event))
    } else if (event.type === 'fallback-given') {
      if (options.accessLog !== 'off') access('warn', fallbackFields(event))
    } else if (event.type === 'fault-injected') {
      if (options.accessLog !== 'off') access('info', faultFields(event))
    } else if (event.type === 'tunnel-closed') {
      if (options.accessLog === 'all' || options.accessLog === 'sampled') access('info', tunnelFields(event))
    } else if (isDetail(event)) {
      if (debug) operator.debug(event, event.type)
    } else if (!isRepeated(event)) {
      const { level, message, fields } = operatorLine(event)
      say(level, message, fields)
    }
  }

  /** While a store is full or gone, every failed call is refused for the same reason: one line a second says it. */
  function isRepeated(event: ForbearEvent): boolean {
    if (event.type !== 'parked-call' || event.step !== 'refused') return false
    const second = Math.floor(Date.now() / 1000)
    const repeated = second === refusedInSecond
    refusedInSecond = second
    return repeated
  }

  return {
    emit,
    log: {
      info: (message, fields = {}) => say('info', message, fields),
      warn: (message, fields = {}) => say('warn', message, fields),
      error: (message, fields = {}) => say('error', message, fields),
    },
    leave: () => {
      leaving = true
      writer.drain(FLUSH_PATIENCE_MS)
    },
  }
}

/** For whoever looks into one call; metrics count them. */
function isDetail(event: ForbearEvent): event is AttemptFinished | RetryDenied | HedgeDecided | PollJudged {
  return ['attempt-finished', 'retry-denied', 'hedge-decided', 'poll-judged'].includes(event.type)
}

/** Many lines share a second; formatting a date costs as much as half a line. */
function isoTimestamp(): () => string {
  let lastSecond = 0
  let prefix = ''
  return () => {
    const nowMs = Date.now()
    const second = Math.floor(nowMs / 1000)
    if (second !== lastSecond) {
      lastSecond = second
      prefix = `,"time":"${new Date(nowMs).toISOString().slice(0, -4)}`
    }
    return `${prefix}${String(nowMs % 1000).padStart(3, '0')}Z"`
  }
}
