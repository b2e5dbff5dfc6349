/** Generated from schemas/ by `npm run generate`. Do not edit. */

export interface FieldFormat {
  readonly format: 'duration' | 'duration-or-none' | 'duration-or-quantile' | 'size'
  readonly min: string
  readonly max: string
}

/** Every field that an Upstream, a Policy or a route may set; `null` where the schema alone checks its form. */
export const SECTION_FIELDS: Readonly<Record<string, FieldFormat | null>> = {
  "timeouts.connect": {
    "format": "duration-or-none",
    "min": "1ms",
    "max": "10m"
  },
  "timeouts.attempt": {
    "format": "duration-or-none",
    "min": "1ms",
    "max": "24h"
  },
  "timeouts.total": {
    "format": "duration-or-none",
    "min": "1ms",
    "max": "24h"
  },
  "timeouts.idle": {
    "format": "duration-or-none",
    "min": "1ms",
    "max": "24h"
  },
  "timeouts.response": {
    "format": "duration-or-none",
    "min": "1ms",
    "max": "24h"
  },
  "retry.maxAttempts": null,
  "retry.retryOn": null,
  "retry.onHeaders": null,
  "retry.backoff.kind": null,
  "retry.backoff.base": {
    "format": "duration",
    "min": "0ms",
    "max": "1h"
  },
  "retry.backoff.factor": null,
  "retry.backoff.cap": {
    "format": "duration",
    "min": "0ms",
    "max": "24h"
  },
  "retry.backoff.jitter": null,
  "retry.throttled.kind": null,
  "retry.throttled.base": {
    "format": "duration",
    "min": "0ms",
    "max": "1h"
  },
  "retry.throttled.factor": null,
  "retry.throttled.cap": {
    "format": "duration",
    "min": "0ms",
    "max": "24h"
  },
  "retry.throttled.jitter": null,
  "retry.retryAfter.cap": {
    "format": "duration",
    "min": "0ms",
    "max": "24h"
  },
  "retry.retryAfter.scope": null,
  "retry.idempotency.keyHeaders": null,
  "retry.idempotency.generate": null,
  "retry.maxBody": {
    "format": "size",
    "min": "0B",
    "max": "64MiB"
  },
  "budget.ratio": null,
  "budget.window": {
    "format": "duration",
    "min": "1s",
    "max": "10m"
  },
  "budget.minPerSecond": null,
  "breaker.mode": null,
  "breaker.failureRatio": null,
  "breaker.window": {
    "format": "duration",
    "min": "100ms",
    "max": "1h"
  },
  "breaker.minRequests": null,
  "breaker.consecutiveFailures": null,
  "breaker.openFor": {
    "format": "duration",
    "min": "1ms",
    "max": "1h"
  },
  "breaker.maxOpenFor": {
    "format": "duration",
    "min": "1ms",
    "max": "1h"
  },
  "breaker.whenOpen": null,
  "breaker.slowCall.after": {
    "format": "duration-or-none",
    "min": "1ms",
    "max": "1h"
  },
  "breaker.slowCall.ratio": null,
  "pace.mode": null,
  "pace.rate": null,
  "pace.burst": null,
  "throttle.mode": null,
  "throttle.k": null,
  "throttle.window": {
    "format": "duration",
    "min": "1s",
    "max": "1h"
  },
  "limits.maxInFlight": null,
  "limits.maxTunnels": null,
  "limits.maxWaiting": null,
  "limits.maxWaitingBytes": {
    "format": "size",
    "min": "0B",
    "max": "4GiB"
  },
  "hedge.mode": null,
  "hedge.after": {
    "format": "duration-or-quantile",
    "min": "1ms",
    "max": "10m"
  },
  "hedge.maxHedges": null,
  "hedge.minSamples": null,
  "hedge.floor": {
    "format": "duration",
    "min": "0ms",
    "max": "10m"
  },
  "hedge.ceiling": {
    "format": "duration",
    "min": "1ms",
    "max": "10m"
  },
  "hedge.keyedWrites": null,
  "fallback.when": null,
  "fallback.methods": null,
  "fallback.status": null,
  "fallback.headers": null,
  "fallback.body": null,
  "fallback.file": null,
  "pool.maxConnections": null,
  "pool.maxAge": {
    "format": "duration",
    "min": "100ms",
    "max": "24h"
  },
  "poll.until.status": null,
  "poll.until.json.pointer": null,
  "poll.until.json.equals": null,
  "poll.until.json.in": null,
  "poll.until.json.exists": null,
  "poll.backoff.kind": null,
  "poll.backoff.base": {
    "format": "duration",
    "min": "100ms",
    "max": "1h"
  },
  "poll.backoff.factor": null,
  "poll.backoff.cap": {
    "format": "duration",
    "min": "100ms",
    "max": "24h"
  },
  "poll.backoff.jitter": null,
  "poll.maxWait": {
    "format": "duration",
    "min": "1ms",
    "max": "24h"
  },
  "fault.percent": null,
  "fault.delay": {
    "format": "duration",
    "min": "0ms",
    "max": "1h"
  },
  "fault.status": null,
  "fault.abort": null,
  "park.accept": null,
  "park.store": null,
  "park.first": {
    "format": "duration",
    "min": "10ms",
    "max": "24h"
  },
  "park.every": {
    "format": "duration",
    "min": "10ms",
    "max": "168h"
  },
  "park.maxAge": {
    "format": "duration",
    "min": "10ms",
    "max": "8760h"
  },
  "park.maxAttempts": null,
  "park.maxBytes": {
    "format": "size",
    "min": "4KiB",
    "max": "16GiB"
  },
  "park.onParked": null,
  "park.onDead": null,
  "park.keyFile": null,
  "park.secretHeaders": null,
  "propagate": null,
  "longPoll": null
}

/** What a route may write of them. */
export const ROUTE_SECTIONS: readonly string[] = ["timeouts","retry","budget","breaker","pace","throttle","limits","hedge","fallback","poll","fault","park"]
