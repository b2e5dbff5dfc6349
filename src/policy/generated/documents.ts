/** Generated from schemas/ by `npm run generate`. Do not edit. */

export type Document = UpstreamDocument | PolicyDocument
/**
 * How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Jitter = string | [number, number]
/**
 * How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Jitter1 = string | [number, number]
/**
 * How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Jitter2 = string | [number, number]

/**
 * A service that the app calls, and how to behave when it misbehaves.
 */
export interface UpstreamDocument {
  /**
   * Version of this format.
   */
  apiVersion: 'forbear.dev/v1alpha1'
  /**
   * What this document is.
   */
  kind: 'Upstream'
  metadata: Metadata
  spec: UpstreamSpec
  /**
   * This interface was referenced by `UpstreamDocument`'s JSON-Schema definition
   * via the `patternProperty` "^x-".
   */
  [k: string]: unknown
}
/**
 * Who this document is.
 */
export interface Metadata {
  /**
   * A DNS-1123 label, unique among documents of its kind. It becomes the metric label.
   */
  name: string
  /**
   * Text by name, for your own use.
   */
  labels?: {
    [k: string]: string
  }
  /**
   * Text by name, for your own use.
   */
  annotations?: {
    [k: string]: string
  }
}
/**
 * Where the service is and how to treat it.
 */
export interface UpstreamSpec {
  /**
   * Where calls go: http or https, host, optional port, optional base path that is put before every path; or a unix socket, as nginx writes it: the file after `unix:`, and after a second colon the base path.
   */
  target: string
  /**
   * Name of the Policy whose settings apply before the ones written here.
   */
  policyRef?: string
  /**
   * An own port for this upstream, on which every call is meant for it.
   */
  listen?: string
  match?: UpstreamMatch
  /**
   * `target` sends the target's host, `preserve` the one that the app sent.
   */
  hostHeader?: 'target' | 'preserve'
  tls?: Tls
  timeouts?: Timeouts
  retry?: Retry
  budget?: Budget
  breaker?: Breaker
  pace?: Pace
  throttle?: Throttle
  fault?: Fault
  fallback?: Fallback
  park?: Park
  limits?: Limits
  hedge?: Hedge
  pool?: Pool
  /**
   * Tell the services behind the upstream about a re-send, in the W3C baggage, so that retries of several layers do not multiply.
   */
  propagate?: boolean
  /**
   * Settings for some of the calls; the first route that matches applies.
   *
   * @maxItems 1000
   */
  routes?: Route[]
}
/**
 * How calls on the shared port find this upstream.
 */
export interface UpstreamMatch {
  /**
   * Host names (without a port) that mean this upstream.
   *
   * @maxItems 100
   */
  hosts?: string[]
  /**
   * Paths under this prefix mean this upstream; the prefix is stripped. It ends at a segment boundary.
   */
  pathPrefix?: string
}
/**
 * For https targets. The files are read again when they change, for new connections within 10 s; files that cannot be used leave the last good ones in force.
 */
export interface Tls {
  /**
   * Certificate authorities (PEM) in place of the system's.
   */
  caFile?: string
  /**
   * Client certificate (PEM).
   */
  certFile?: string
  /**
   * Key (PEM) of the client certificate.
   */
  keyFile?: string
  /**
   * Name to ask for and to check, in place of the target's host.
   */
  serverName?: string
}
/**
 * Clocks of one request. Each is a duration or `none`.
 */
export interface Timeouts {
  /**
   * Opening a connection: DNS, socket and TLS handshake.
   */
  connect?: string
  /**
   * One attempt: from the end of the request body to the response head. Not the pause between attempts. Without it, one attempt may take the whole of `total`.
   */
  attempt?: string
  /**
   * The whole request: from the end of its body to the accepted response head, all attempts and waits included. A body that streams is never cut by it.
   */
  total?: string
  /**
   * Longest gap between two body bytes, in either direction.
   */
  idle?: string
  /**
   * The whole response, head and body, from the end of the request body.
   */
  response?: string
}
/**
 * What is worth another attempt, and when it is made.
 */
export interface Retry {
  /**
   * Attempts in all, the first included: 1 turns retries off, 3 is three calls.
   */
  maxAttempts?: number
  /**
   * Failures and statuses that are worth another attempt. `connect` = nothing was sent; `reset` = sent, no response head; `timeout` = the attempt clock ran out. 500 is a bug rather than a blip, and 4xx other than 408, 425 and 429 answer the same next time.
   *
   * @maxItems 50
   */
  retryOn?: (string | number)[]
  /**
   * Response headers that make an answer retryable: name to exact value, or `"*"` for any value.
   */
  onHeaders?: {
    [k: string]: string
  }
  backoff?: Backoff
  throttled?: ThrottledBackoff
  retryAfter?: RetryAfter
  idempotency?: Idempotency
  /**
   * Request bodies up to this size are kept for another attempt; a larger one streams on and is not repeated.
   */
  maxBody?: string
}
/**
 * The wait before retry n (1-based).
 */
export interface Backoff {
  /**
   * `exponential` = base × factor^(n−1); `linear` = base × n; `fixed` = base.
   */
  kind?: 'exponential' | 'linear' | 'fixed'
  /**
   * The first delay, before jitter.
   */
  base?: string
  /**
   * Growth from one delay to the next, `exponential` only.
   */
  factor?: number
  /**
   * Longest delay, before jitter.
   */
  cap?: string
  jitter?: Jitter
}
/**
 * The wait after a 429, in place of `backoff`.
 */
export interface ThrottledBackoff {
  /**
   * As in `backoff`.
   */
  kind?: 'exponential' | 'linear' | 'fixed'
  /**
   * The first delay, before jitter.
   */
  base?: string
  /**
   * Growth from one delay to the next, `exponential` only.
   */
  factor?: number
  /**
   * Longest delay, before jitter.
   */
  cap?: string
  jitter?: Jitter1
}
/**
 * What a `Retry-After` of the upstream does.
 */
export interface RetryAfter {
  /**
   * A longer hint is neither waited for nor shortened: the answer is passed on.
   */
  cap?: string
  /**
   * `request` = only the call that got the hint waits; `upstream` = hints may close the gate for every call of this upstream.
   */
  scope?: 'request' | 'upstream'
}
/**
 * When a call that is not idempotent by its method may be repeated.
 */
export interface Idempotency {
  /**
   * A request that carries one of these headers may be repeated: the upstream knows it again.
   *
   * @maxItems 20
   */
  keyHeaders?:
    | []
    | [string]
    | [string, string]
    | [string, string, string]
    | [string, string, string, string]
    | [string, string, string, string, string]
    | [string, string, string, string, string, string]
    | [string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string, string, string, string]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string
      ]
  /**
   * Add a key, the same on all attempts, to requests that carry none. Only for upstreams that honour it.
   */
  generate?: boolean
}
/**
 * How many retries the upstream may be sent at all, over all requests. Retries in the window ≤ ratio × succeeded first attempts + minPerSecond × window; in any second ≤ ratio × the first attempts of that second, or minPerSecond × window if that is more, so that the allowance of a window is not spent at once. A route may only tighten it.
 */
export interface Budget {
  /**
   * Retries per first attempt that succeeded.
   */
  ratio?: number
  /**
   * How far back first attempts and retries are counted.
   */
  window?: string
  /**
   * Retries per second that quiet clients may always make.
   */
  minPerSecond?: number
}
/**
 * When to stop calling. Closed = healthy. A route that writes this section gets a breaker of its own.
 */
export interface Breaker {
  /**
   * `enforce` refuses calls while open; `observe` counts and reports only; `disabled` does nothing.
   */
  mode?: 'enforce' | 'observe' | 'disabled'
  /**
   * Opens at this share of failed first attempts or more.
   */
  failureRatio?: number
  /**
   * How far back the ratio looks.
   */
  window?: string
  /**
   * First attempts in the window before the ratio counts.
   */
  minRequests?: number
  /**
   * Opens after this many failures in a row, whatever the ratio; 0 = off.
   */
  consecutiveFailures?: number
  /**
   * Shortest time open before a probe.
   */
  openFor?: string
  /**
   * Longest time between probes; the time open grows with the age of the outage.
   */
  maxOpenFor?: string
  /**
   * `refuse` answers 503 at once; `wait` keeps calls in a bounded room until the upstream is back or their deadline comes.
   */
  whenOpen?: 'refuse' | 'wait'
  slowCall?: SlowCall
}
/**
 * Opens also on slowness: for upstreams that fail by answering late.
 */
export interface SlowCall {
  /**
   * An attempt without an answer for this long is slow, however it ends; a slow probe fails. `none` = off.
   */
  after?: string
  /**
   * Opens at this share of slow first attempts or more, under the same window and minRequests as failureRatio.
   */
  ratio?: number
}
/**
 * How fast an upstream that limits its callers is sent. Calls above the pace wait in line under `limits.maxWaiting`, first come first served; one that would not get its turn before its deadline is refused at once. With `retryAfter.scope: upstream` a single 429 with `Retry-After` holds all calls back. A route that writes this section gets a pace, a line and a breaker of its own.
 */
export interface Pace {
  /**
   * Who writes the section means `fixed` with a rate, `auto` without. `auto` sends as it comes until a 429, then 0.7 of what it was sent, growing slowly to that rate within 10 s and faster beyond it; `fixed` never sends more than `rate`; `disabled` does nothing.
   */
  mode?: 'auto' | 'fixed' | 'disabled'
  /**
   * Calls a second, `fixed` only.
   */
  rate?: number
  /**
   * Calls that may go at once after a pause, `fixed` only.
   */
  burst?: number
}
/**
 * Refuses a part of the calls here while the upstream accepts only a part of them, so that it is sent at most k times what it accepts: with the probability max(0, (requests - k x accepts) / (requests + 1)). The breaker is for all or nothing, this for half. A failure and a 429 are not accepted, any other answer is. A route that writes this section gets a throttle of its own.
 */
export interface Throttle {
  /**
   * Who writes the section means `enabled`. `enabled` refuses with 503 `throttled`; `observe` only tells the probability (`/status`, `forbear_throttle_probability`); `disabled` does nothing.
   */
  mode?: 'enabled' | 'observe' | 'disabled'
  /**
   * Calls that the upstream may be sent for each that it accepts: lower refuses sooner.
   */
  k?: number
  /**
   * How far back it looks; not below `timeouts.total`, or calls are forgotten before they have failed.
   */
  window?: string
}
/**
 * Rehearses a bad day of the upstream: a share of the attempts is delayed, answered in its place or cut off. Only while an operator has switched it on (`POST /faults/on?for=10m` of the admin port); otherwise it does nothing. Redeliveries of parked calls are spared.
 */
export interface Fault {
  /**
   * Share of attempts that is hit; 0 = none.
   */
  percent?: number
  /**
   * Pause before the attempt goes on or ends.
   */
  delay?: string
  /**
   * Answer with this status; the upstream is not called. Default: it is.
   */
  status?: number
  /**
   * Break off as if the connection had been reset; the upstream is not called.
   */
  abort?: boolean
}
/**
 * A static answer in the place of a failure, marked `forbear-outcome: fallback`. Off unless `when` names a cause.
 */
export interface Fallback {
  /**
   * Causes for which it is given: how the request ended (`forbear-outcome`), or why no further attempt was made. So `retries-exhausted` holds whatever the last attempt failed of.
   *
   * @maxItems 50
   */
  when?: (
    | 'breaker-open'
    | 'retries-exhausted'
    | 'budget-exhausted'
    | 'deadline'
    | 'connect'
    | 'reset'
    | 'bad-response'
    | 'attempt-timeout'
    | 'overloaded'
    | 'gate-closed'
    | 'throttled'
    | 'retry-after-too-long'
  )[]
  /**
   * Methods that it answers. Another than GET, HEAD and OPTIONS tells the app that something was done that was not.
   *
   * @minItems 1
   * @maxItems 50
   */
  methods?: [string, ...string[]]
  /**
   * Its status.
   */
  status?: number
  /**
   * Its header fields; the length is added.
   */
  headers?: {
    [k: string]: string
  }
  /**
   * Its body. Default: empty.
   */
  body?: string
  /**
   * File whose content is the body, up to 1 MiB; looked at again every 5 s. While it cannot be read, no fallback is given.
   */
  file?: string
}
/**
 * Stores a finally failed call on disk for slow redelivery and answers 202 instead of the failure, with a Location on the admin port that tells what became of it. Only for calls whose body was kept whole (`retry.maxBody`) and that carry the app's own key (`retry.idempotency.keyHeaders`) or `If-Match`, never for GET and the like. Off unless the section is written. Full, or a store that fails: the app gets the failure as without parking.
 */
export interface Park {
  /**
   * Which calls: `prefer` = those whose app sent `Prefer: respond-async`, so it knows what a 202 means; `always` = all; `never` = none. Where the section is written without it: `prefer`.
   */
  accept?: 'prefer' | 'always' | 'never'
  /**
   * Where they are kept: a directory of this sidecar alone, which must outlive it (a volume); or `redis://…`, which all replicas share and each entry is delivered by one of. Replicas of one app only: whoever shares it must have the same upstreams, so give each app a database of its own (`redis://host:6379/1`).
   */
  store?: string
  /**
   * Wait before the first redelivery. A `Retry-After` of the failed answer replaces it. Every wait is up to a fifth longer, at random.
   */
  first?: string
  /**
   * Waits double from `first` up to this.
   */
  every?: string
  /**
   * An entry this old is given up after one more try, or without it where nobody was there to make it until long after: the upstream may have forgotten the key by then. A `Retry-After` beyond it: the call is not parked.
   */
  maxAge?: string
  /**
   * Redeliveries after which an entry is given up; what breaker, budget or gate kept from being sent does not count.
   */
  maxAttempts?: number
  /**
   * Of all entries of the store together, at most 10 000. What has ended makes room, oldest first, and what is dead last; when what waits fills it, calls are not parked.
   */
  maxBytes?: string
  /**
   * Told by POST (JSON) of each call that was parked.
   */
  onParked?: string
  /**
   * Told by POST (JSON) of each entry that was given up.
   */
  onDead?: string
  /**
   * File of at least 16 random bytes with which `secretHeaders` are encrypted (AES-256-GCM). Without it they are not stored, so the redelivery goes without them.
   */
  keyFile?: string
  /**
   * Headers that are stored encrypted, or not at all.
   *
   * @maxItems 50
   */
  secretHeaders?: string[]
}
/**
 * How much may be under way. A route that writes this section gets limits of its own.
 */
export interface Limits {
  /**
   * Attempts on the wire at one time. `auto` learns it from latency: more while answers come as fast as usual, fewer when they queue in the upstream. The opening of a tunnel (CONNECT, WebSocket) counts, a tunnel that stands does not: it may live for hours, and has `maxTunnels` of its own.
   */
  maxInFlight?: number | string
  /**
   * Tunnels (CONNECT, WebSocket) that stand or are being opened at one time; one more is answered 503 `overloaded` at once.
   */
  maxTunnels?: number
  /**
   * Requests that wait at one time, for a slot or for another attempt; one more is answered 503 `overloaded`.
   */
  maxWaiting?: number
  /**
   * Body bytes kept for requests that wait.
   */
  maxWaitingBytes?: string
}
/**
 * A second call beside one that is late; the first good answer counts, the other call is ended. Only GET, HEAD and OPTIONS, on another connection, with half of the budget, and never while the breaker is not closed, a gate is shut or no slot is free. Off unless the section is written. A hedge is one of `retry.maxAttempts`. A route that writes this section gets answer times of its own.
 */
export interface Hedge {
  /**
   * `enabled` sends hedges; `observe` counts those that would be sent; `disabled` does nothing. Where the section is written without it: `enabled`.
   */
  mode?: 'enabled' | 'observe' | 'disabled'
  /**
   * How late the last attempt must be: a quantile of the answer times of the last 30 to 60 seconds (`p95` = later than 95 of 100), or a fixed time.
   */
  after?: string
  /**
   * Hedges for one request, at most.
   */
  maxHedges?: number
  /**
   * Answers that must be known before a quantile counts; until then no hedge is sent.
   */
  minSamples?: number
  /**
   * Never earlier, whatever the quantile.
   */
  floor?: string
  /**
   * Never later, whatever the quantile.
   */
  ceiling?: string
  /**
   * Hedge also calls that carry an idempotency key, the app's or one that `retry.idempotency.generate` adds. Only for upstreams that can bear two calls with one key at the same time.
   */
  keyedWrites?: boolean
}
/**
 * Connections to the upstream, shared by its routes.
 */
export interface Pool {
  /**
   * Open connections at one time.
   */
  maxConnections?: number
  /**
   * A connection is replaced after this long, ± 10 %, so that new replicas get their share.
   */
  maxAge?: string
}
/**
 * Calls with their own settings.
 */
export interface Route {
  /**
   * Unique within the upstream. It becomes the metric label.
   */
  name: string
  match: RouteMatch
  /**
   * The upstream answers when it has something to say: no attempt clock, never a probe, a hedge or a latency sample.
   */
  longPoll?: boolean
  timeouts?: Timeouts
  retry?: Retry
  budget?: Budget
  breaker?: Breaker
  pace?: Pace
  throttle?: Throttle
  poll?: Poll
  fault?: Fault
  fallback?: Fallback
  park?: Park
  limits?: Limits
  hedge?: Hedge
}
/**
 * Which calls; all that is written must match, `{}` matches every call. Paths as the upstream sees them: shared prefix stripped, base path of the target not counted, without the query.
 */
export interface RouteMatch {
  /**
   * Any of these methods.
   *
   * @minItems 1
   * @maxItems 50
   */
  methods?: [string, ...string[]]
  /**
   * Exactly this path; `{name}` stands for one segment.
   */
  path?: string
  /**
   * Every path under this one; it ends at a segment boundary.
   */
  pathPrefix?: string
  /**
   * Request headers with exactly these values.
   */
  headers?: {
    [k: string]: string
  }
}
/**
 * The app makes one GET and gets the answer that it waits for: it is repeated until `until` holds. When the time is up, and the app's own `Prefer: wait=N` and `forbear-timeout-ms` may only shorten it, the app gets the last answer unchanged with `forbear-outcome: poll-pending`. Each repeat is a call of its own, with timeouts and retries as for any other; an empty budget makes it slower. `Retry-After` of an answer is waited for. On a route only; GET and HEAD without a body.
 */
export interface Poll {
  until: PollUntil
  backoff?: PollBackoff
  /**
   * From the arrival of the request to its last poll. The first poll is not cut by it.
   */
  maxWait?: string
}
/**
 * When it is done; with both, both must hold. Until then another 2xx, 408, 425 and 429 mean not yet; any other answer ends the polling and is passed on.
 */
export interface PollUntil {
  /**
   * Any of these statuses, unless `retry.retryOn` has it: a failure is retried first. Without it, with `json` alone: any from 200 to 299.
   *
   * @minItems 1
   * @maxItems 50
   */
  status?: [number, ...number[]]
  json?: PollJson
}
/**
 * What the JSON document of the answer must say: one of `equals`, `in` and `exists`. It is read up to 64 KiB, gzip, deflate and br are undone; what is larger is passed on as it is.
 */
export interface PollJson {
  /**
   * Where to look in the document (RFC 6901).
   */
  pointer: string
  /**
   * This value stands there.
   */
  equals?: string | number | boolean
  /**
   * One of these values stands there.
   *
   * @minItems 1
   * @maxItems 50
   */
  in?: [string | number | boolean, ...(string | number | boolean)[]]
  /**
   * `true`: something stands there, `null` too; `false`: nothing does.
   */
  exists?: boolean
}
/**
 * The wait between an answer and the next poll, never below half of `base`.
 */
export interface PollBackoff {
  /**
   * As in `retry.backoff`.
   */
  kind?: 'exponential' | 'linear' | 'fixed'
  /**
   * The first wait, before jitter.
   */
  base?: string
  /**
   * Growth from one wait to the next, `exponential` only.
   */
  factor?: number
  /**
   * Longest wait, before jitter. A `Retry-After` may be longer.
   */
  cap?: string
  jitter?: Jitter2
}
/**
 * Settings by name. The Policy called `default` applies to every Upstream, any other to those that name it in `policyRef`.
 */
export interface PolicyDocument {
  /**
   * Version of this format.
   */
  apiVersion: 'forbear.dev/v1alpha1'
  /**
   * What this document is.
   */
  kind: 'Policy'
  metadata: Metadata
  spec: PolicySpec
  /**
   * This interface was referenced by `PolicyDocument`'s JSON-Schema definition
   * via the `patternProperty` "^x-".
   */
  [k: string]: unknown
}
/**
 * The settings.
 */
export interface PolicySpec {
  timeouts?: Timeouts
  retry?: Retry
  budget?: Budget
  breaker?: Breaker
  pace?: Pace
  throttle?: Throttle
  fault?: Fault
  fallback?: Fallback
  park?: Park
  limits?: Limits
  hedge?: Hedge
  pool?: Pool
  /**
   * Tell the services behind the upstream about a re-send, in the W3C baggage, so that retries of several layers do not multiply.
   */
  propagate?: boolean
}
