/**
 * The one table that turns a reason into an answer of our own. No other file writes a status of its own.
 * Bodies are RFC 9457 problem documents, pure ASCII, so that their length in characters is their length in bytes.
 */
import type { OwnReason } from '../core/reasons.js'

export interface OwnAnswerFacts {
  /** One sentence for a human; default: the reason's own. */
  readonly detail?: string
  /** Name of the upstream; absent or `null` when none matched. */
  readonly upstream?: string | null
  /** Calls made to the upstream for this request. Default 0. */
  readonly attempts?: number
  /** When it makes sense to call again, ms; `null` = not known. Sent in whole seconds, rounded up, at least 1. */
  readonly retryAfterMs?: number | null
}

export interface OwnAnswer {
  readonly status: number
  readonly statusText: string
  /** Flat list; `content-length` included. */
  readonly headers: string[]
  readonly body: string
}

interface Row {
  readonly status: keyof typeof STATUS_TEXT
  /** Same for every occurrence (RFC 9457 §3.1.3). */
  readonly title: string
  readonly detail: string
}

const STATUS_TEXT = {
  400: 'Bad Request',
  404: 'Not Found',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  508: 'Loop Detected',
} as const

const ROWS: Readonly<Record<OwnReason, Row>> = {
  'no-route': { status: 404, title: 'No upstream matches', detail: 'No declared upstream matches this request.' },
  'bad-request': { status: 400, title: 'Bad request', detail: 'The request cannot be forwarded as it is.' },
  loop: { status: 508, title: 'Loop detected', detail: 'The request has passed this sidecar before.' },
  connect: { status: 502, title: 'Upstream not reachable', detail: 'No connection to the upstream could be made.' },
  reset: { status: 502, title: 'Upstream reset', detail: 'The upstream closed the connection before it answered.' },
  'bad-response': {
    status: 502,
    title: 'Bad upstream response',
    detail: 'The upstream did not answer in valid HTTP/1.1.',
  },
  'attempt-timeout': {
    status: 504,
    title: 'Attempt timed out',
    detail: 'The upstream did not answer one attempt in time.',
  },
  deadline: { status: 504, title: 'Deadline reached', detail: 'The time allowed for this request is used up.' },
  'breaker-open': {
    status: 503,
    title: 'Breaker open',
    detail: 'The upstream keeps failing, so it is not called now.',
  },
  overloaded: { status: 503, title: 'Too many requests waiting', detail: 'The limits of this upstream are reached.' },
  'gate-closed': { status: 503, title: 'Upstream asked for a pause', detail: 'The upstream asked to be called later.' },
  draining: { status: 503, title: 'Draining', detail: 'The sidecar is shutting down.' },
  'no-policy': { status: 503, title: 'No valid policy', detail: 'The policy of this upstream is not valid.' },
  throttled: {
    status: 503,
    title: 'Throttled',
    detail: 'The upstream accepts only a part of its calls now; this one was kept from it.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Header fields too large',
    detail: 'The head of the request is too large.',
  },
}

/** Status of the answer for a reason. */
export function ownStatus(reason: OwnReason): number {
  return ROWS[reason].status
}

/** The whole answer: problem document, `Retry-After` where a time is known, and the two fields every answer carries. */
export function ownAnswer(reason: OwnReason, facts: OwnAnswerFacts = {}): OwnAnswer {
  const row = ROWS[reason]
  const attempts = facts.attempts ?? 0
  const body = toAscii(
    JSON.stringify({
      type: `tag:forbear.dev,2026:${reason}`,
      title: row.title,
      status: row.status,
      detail: facts.detail ?? row.detail,
      upstream: facts.upstream ?? null,
      attempts,
      reason,
    }),
  )
  const headers = ['content-type', 'application/problem+json', 'content-length', String(body.length)]
  if (facts.retryAfterMs != null && Number.isFinite(facts.retryAfterMs)) {
    headers.push('retry-after', String(Math.max(1, Math.ceil(facts.retryAfterMs / 1000))))
  }
  headers.push('forbear-outcome', reason, 'forbear-attempts', String(attempts))
  return { status: row.status, statusText: STATUS_TEXT[row.status], headers, body }
}

/** Where the app, or whoever looks after it, can ask what became of its call (RFC 9110 §15.3.3). */
export function parkedAnswer(id: string, location: string, attempts: number, preferred: boolean): OwnAnswer {
  const body = JSON.stringify({ parked: id, status: 202, location, attempts })
  const headers = ['content-type', 'application/json', 'content-length', String(body.length), 'location', location]
  // RFC 7240 §3.
  if (preferred) headers.push('preference-applied', 'respond-async')
  headers.push('forbear-outcome', 'parked', 'forbear-attempts', String(attempts))
  return { status: 202, statusText: 'Accepted', headers, body }
}

function toAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
