/** Fields that are each allowed and make no sense together. */
import type { EffectivePolicy } from '../core/snapshot.js'
import { HEDGE_RULES } from './hedge-rules.js'
import { MECHANISM_RULES } from './mechanism-rules.js'
import { POLL_RULES } from './poll-rules.js'
import type { Rule } from './rule.js'

const FINITE = Number.isFinite
/** A ratio below it needs more than 100 calls within one second for its first retry: one sidecar hardly sees so many. */
const TINY_RATIO = 0.01

export const RULES: readonly Rule[] = [
  {
    code: 'FB050',
    fields: ['timeouts.attempt', 'timeouts.total'],
    onlyIf: ['timeouts.attempt'],
    text: ({ timeouts: { attemptMs, totalMs } }, name) =>
      FINITE(attemptMs) && attemptMs > totalMs
        ? `${name('timeouts.attempt')} cannot fit into ${name('timeouts.total')}: make it shorter or leave it out`
        : null,
  },
  {
    code: 'FB061',
    fields: ['retry.maxAttempts', 'timeouts.attempt', 'timeouts.total'],
    also: ['retry.retryOn'],
    text: ({ retry: { maxAttempts, retryOn }, timeouts: { attemptMs, totalMs } }, name, wrote) =>
      wrote('retry.maxAttempts') &&
      wrote('timeouts.attempt') &&
      retryOn.timeout &&
      FINITE(attemptMs) &&
      attemptMs <= totalMs &&
      (maxAttempts - 1) * attemptMs >= totalMs
        ? `${name('retry.maxAttempts')} with ${name('timeouts.attempt')} does not fit into ${name('timeouts.total')}: ` +
          `once ${Math.ceil(totalMs / attemptMs)} attempts have timed out there is no time for another`
        : null,
  },
  {
    code: 'FB052',
    fields: ['retry.maxAttempts', 'budget.ratio', 'budget.minPerSecond'],
    text: (policy, name, wrote) =>
      wrote('retry.maxAttempts') && policy.retry.maxAttempts > 1 && isZero(policy)
        ? `${name('retry.maxAttempts')} with ${name('budget.ratio')} and ${name('budget.minPerSecond')}: ` +
          'no retry is ever granted; give the budget something or write maxAttempts: 1'
        : null,
  },
  {
    code: 'FB053',
    fields: ['retry.maxAttempts', 'budget.ratio', 'budget.minPerSecond', 'budget.window'],
    onlyIf: ['budget.ratio', 'budget.minPerSecond', 'budget.window'],
    text: (policy, name, wrote) =>
      policy.retry.maxAttempts > 1 && grantsNothing(policy) && !(isZero(policy) && wrote('retry.maxAttempts'))
        ? `${name('budget.ratio')} and ${name('budget.minPerSecond')} over ${name('budget.window')} are less than one ` +
          'retry: none is ever granted; to turn retries off, write retry.maxAttempts: 1'
        : null,
  },
  {
    code: 'FB054',
    fields: ['retry.retryAfter.cap', 'timeouts.total'],
    onlyIf: ['retry.retryAfter.cap'],
    text: ({ retry: { retryAfter }, timeouts }, name) =>
      retryAfter.capMs > timeouts.totalMs
        ? `${name('retry.retryAfter.cap')} is above ${name('timeouts.total')}: no request lives to wait for such a hint`
        : null,
  },
  {
    code: 'FB055',
    fields: ['limits.maxWaiting', 'breaker.whenOpen', 'breaker.mode'],
    onlyIf: ['limits.maxWaiting', 'breaker.whenOpen'],
    text: ({ limits, breaker }, name) =>
      limits.maxWaiting === 0 && breaker.whenOpen === 'wait' && breaker.mode === 'enforce'
        ? `${name('limits.maxWaiting')} with ${name('breaker.whenOpen')}: calls shall wait and none may`
        : null,
  },
  {
    code: 'FB055',
    fields: ['limits.maxWaiting', 'retry.retryAfter.scope'],
    text: ({ limits, retry }, name) =>
      limits.maxWaiting === 0 && retry.retryAfter.scope === 'upstream'
        ? `${name('limits.maxWaiting')} with ${name('retry.retryAfter.scope')}: calls shall wait and none may`
        : null,
  },
  ...(['backoff', 'throttled'] as const).map(
    (kind): Rule => ({
      code: 'FB056',
      fields: [`retry.${kind}.base`, `retry.${kind}.cap`],
      text: ({ retry }, name) =>
        retry[kind].baseMs > retry[kind].capMs
          ? `${name(`retry.${kind}.base`)} is above ${name(`retry.${kind}.cap`)}: every wait is as long as the cap`
          : null,
    }),
  ),
  ...(['backoff', 'throttled'] as const).flatMap(waitRules),
  {
    code: 'FB079',
    fields: ['limits.maxWaitingBytes', 'retry.maxBody'],
    also: ['limits.maxWaiting'],
    text: ({ limits, retry }, name) =>
      limits.maxWaiting > 0 && limits.maxWaitingBytes < retry.maxBodyBytes
        ? `${name('limits.maxWaitingBytes')} is below ${name('retry.maxBody')}: a call with so large a body is refused where a smaller one waits`
        : null,
  },
  {
    code: 'FB062',
    fields: ['retry.idempotency.generate', 'retry.idempotency.keyHeaders'],
    text: ({ retry: { idempotency } }, name) =>
      idempotency.generate && idempotency.keyHeaders.length === 0
        ? `${name('retry.idempotency.generate')} with ${name('retry.idempotency.keyHeaders')}: ` +
          'there is no header to put the key into; name one, such as [Idempotency-Key]'
        : null,
  },
  {
    code: 'FB067',
    fields: ['timeouts.connect', 'timeouts.total'],
    onlyIf: ['timeouts.connect'],
    text: ({ timeouts: { connectMs, totalMs } }, name) =>
      FINITE(connectMs) && connectMs > totalMs
        ? `${name('timeouts.connect')} is above ${name('timeouts.total')}: the request ends before this clock does`
        : null,
  },
  {
    code: 'FB068',
    fields: ['retry.maxAttempts', 'budget.ratio', 'budget.minPerSecond', 'budget.window'],
    onlyIf: ['budget.ratio', 'budget.minPerSecond', 'budget.window'],
    text: ({ retry, budget }, name) =>
      retry.maxAttempts > 1 && budget.ratio > 0 && budget.ratio < TINY_RATIO && grantsNoFloor(budget)
        ? `${name('budget.ratio')} with ${name('budget.minPerSecond')} over ${name('budget.window')}: no retry is granted ` +
          `below ${Math.ceil(1 / budget.ratio)} calls a second`
        : null,
  },
  ...MECHANISM_RULES,
  ...HEDGE_RULES,
  ...POLL_RULES,
]

function waitRules(kind: 'backoff' | 'throttled'): Rule[] {
  const [base, factor] = [`retry.${kind}.base`, `retry.${kind}.factor`]
  return [
    {
      code: 'FB076',
      fields: [base, 'timeouts.total'],
      onlyIf: [base],
      also: [`retry.${kind}.cap`, 'retry.maxAttempts'],
      text: ({ retry, timeouts }, name) =>
        retry.maxAttempts > 1 && Math.min(retry[kind].baseMs, retry[kind].capMs) > timeouts.totalMs
          ? `${name(base)} is above ${name('timeouts.total')}: a retry whose wait does not fit is not made`
          : null,
    },
    {
      code: 'FB077',
      fields: [base, 'retry.maxAttempts'],
      onlyIf: [base],
      text: ({ retry }, name) =>
        retry.maxAttempts > 2 && retry[kind].baseMs === 0
          ? `${name(base)} with ${name('retry.maxAttempts')}: no retry waits at all, whatever the jitter; one at once may do, more need a base such as 200ms`
          : null,
    },
    {
      code: 'FB078',
      fields: [factor, `retry.${kind}.kind`],
      together: true,
      text: ({ retry }, name) =>
        retry[kind].kind !== 'exponential'
          ? `${name(factor)} does nothing with ${name(`retry.${kind}.kind`)}: only an exponential wait grows by a factor`
          : null,
    },
  ]
}

function isZero({ budget }: EffectivePolicy): boolean {
  return budget.ratio === 0 && budget.minPerSecond === 0
}

function grantsNothing({ budget }: EffectivePolicy): boolean {
  return budget.ratio === 0 && grantsNoFloor(budget)
}

/** What quiet clients may always make is less than one retry. */
function grantsNoFloor({ minPerSecond, windowMs }: EffectivePolicy['budget']): boolean {
  return (minPerSecond * windowMs) / 1000 < 1
}
