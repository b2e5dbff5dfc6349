import type { AttemptFacts } from '../core/classify.js'
import type { Outcome } from '../core/reasons.js'
import type { RunFailure } from './attempt-report.js'
import type { AttemptRun } from './attempt-run.js'
import type { ResponseHead } from './ports.js'

/** Who is told how an attempt goes: the exchange, or the race that it runs in. */
export interface RunOwner {
  /** Its request is on the wire, body included. Not told when the head comes first. */
  onSent?(): void
  onHead(run: AttemptRun, head: ResponseHead, facts: AttemptFacts): void
  onFailure(failure: RunFailure, facts: AttemptFacts, run: AttemptRun): void
  /** Cut by the request's deadline, or by the app's own body. */
  onEnded(reason: 'deadline' | 'bad-request', run: AttemptRun): void
  onDelivered(status: number, outcome: Outcome, bytes: number): void
}

/** What runs for an exchange: an attempt, or several of which one will win. */
export interface Running {
  /** Body bytes handed to the app. */
  readonly bytes: number
  /** Ends it without a word on the upstream: the app left, or we are leaving. */
  abandon(): void
  /** The request's deadline is here. */
  onDeadline(): void
}
