/** What must hold for every exchange, whatever the upstream did. Each rule gives a sentence about what broke it. */
import type { FaultUpstream } from './fault-upstream.js'
import { hasNoBody, type Reply, taggedBody } from './faults.js'
import { valuesOf } from './message-reader.js'
import type { SeenAnswer, SeenCall, SeenConnection } from './raw-app.js'

/** What the policy of an upstream allows. */
export interface Allowance {
  readonly maxAttempts: number
  /** Every call carries a key, the app's or a minted one. */
  readonly alwaysKeyed: boolean
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

export function judge(
  seen: SeenConnection,
  upstream: FaultUpstream,
  allowances: ReadonlyMap<string, Allowance>,
): string[] {
  const problems = seen.violation === null ? [] : [seen.violation]
  for (const [n, call] of seen.calls.entries()) {
    const allowance = allowances.get(call.plan.upstream) as Allowance
    problems.push(...judgeAttempts(call, upstream, allowance))
    if (call.answer?.complete) problems.push(...judgeAnswer(call, call.answer, upstream, allowance))
    const next = seen.calls[n + 1]
    if (call.answer?.complete !== true && next?.answer) problems.push(`${next.id} was answered before ${call.id}`)
  }
  return problems
}

function judgeAttempts({ id, plan }: SeenCall, upstream: FaultUpstream, allowance: Allowance): string[] {
  const hits = upstream.hitsOf(id)
  const repeatable = IDEMPOTENT.has(plan.method) || plan.key || allowance.alwaysKeyed
  // One more is free after a kept connection that died.
  const most = repeatable ? allowance.maxAttempts + 1 : 1
  const problems =
    hits.length > most ? [`${id}: ${plan.method} reached the upstream ${hits.length} times, not ${most}`] : []
  const connections = new Set(hits.map(hit => hit.connection))
  if (connections.size < hits.length) problems.push(`${id}: repeated on a connection on which it had failed`)
  return problems
}

function judgeAnswer(call: SeenCall, answer: SeenAnswer, upstream: FaultUpstream, allowance: Allowance): string[] {
  const problems: string[] = []
  const { id } = call
  const [attempts, ...more] = valuesOf(answer.fields, 'forbear-attempts')
  const outcomes = valuesOf(answer.fields, 'forbear-outcome')
  if (attempts === undefined || more.length > 0 || outcomes.length !== 1) problems.push(`${id}: no outcome, or two`)
  if (Number(attempts) > allowance.maxAttempts) problems.push(`${id}: ${attempts} attempts of ${allowance.maxAttempts}`)
  const [tag, ...tags] = valuesOf(answer.fields, 'x-tag')
  if (tag === undefined) return [...problems, ...judgeOwn(call, answer)]
  const [of, attempt] = tag.split('.')
  const reply = upstream.scripts.get(id)?.replies.at(Math.min(Number(attempt), call.plan.replies.length) - 1)
  if (of !== id || tags.length > 0 || reply === undefined) return [...problems, `${id}: got the answer of ${tag}`]
  return [...problems, ...judgePassed(call, answer, tag, reply)]
}

/** An answer of the upstream's. */
function judgePassed({ id, plan }: SeenCall, answer: SeenAnswer, tag: string, { bytes, share, then }: Reply): string[] {
  if ('garbage' in bytes) return [`${id}: an answer was made of garbage`]
  const problems: string[] = []
  if (answer.status !== bytes.status) problems.push(`${id}: ${answer.status} instead of ${bytes.status}`)
  const whole = hasNoBody(plan.method, bytes.status) ? '' : taggedBody(tag, bytes.bodyBytes)
  // Only an end in good order is an end where nothing else frames the body.
  const mayBeShort = bytes.framing === 'close' && share < 1 && then !== 'reset' && then !== 'hang'
  const right = mayBeShort ? whole.startsWith(answer.body) : whole === answer.body
  if (!right) problems.push(`${id}: a body of ${answer.body.length} bytes instead of ${whole.length}, or of another`)
  return problems
}

/** An answer of forbear's. */
function judgeOwn({ id, plan }: SeenCall, { status, fields, body }: SeenAnswer): string[] {
  if (valuesOf(fields, 'content-type')[0] !== 'application/problem+json') {
    return plan.method === 'HEAD' && plan.replies.some(isSoundHead) ? [] : [`${id}: ${status} from nowhere`]
  }
  if (plan.method === 'HEAD') return body === '' ? [] : [`${id}: a body for HEAD`]
  const problem: unknown = JSON.parse(body)
  const stated = typeof problem === 'object' && problem !== null && 'status' in problem ? problem.status : undefined
  return stated === status ? [] : [`${id}: a problem that is not about its status: ${body}`]
}

/** Garbage that begins as an answer does: all that HEAD looks at. */
const isSoundHead = ({ bytes }: Reply): boolean => 'garbage' in bytes && bytes.garbage.startsWith('HTTP/1.1 200')
