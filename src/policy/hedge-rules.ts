/** What makes no sense about hedging beside the other fields, or on its route. */
import { mayRunTwice } from '../core/hedge.js'
import { repeatability } from '../core/idempotency.js'
import type { EffectivePolicy, RouteSnapshot } from '../core/snapshot.js'
import { message, type ParsedDocument, type Path, valueAt } from './document.js'
import type { PolicyMessage } from './messages.js'
import type { Rule } from './rule.js'
import { listText } from './schema-words.js'

const isOn = ({ hedge }: EffectivePolicy) => hedge.mode !== 'disabled'

export const HEDGE_RULES: readonly Rule[] = [
  ...laterRules('hedge.after', ({ after }) => (after.kind === 'fixed' ? after.delayMs : null)),
  ...laterRules('hedge.floor', ({ after, floorMs }) => (after.kind === 'fixed' ? null : floorMs)),
  {
    code: 'FB091',
    fields: ['hedge.mode', 'retry.maxAttempts'],
    last: 'hedge.mode',
    text: (policy, name) =>
      isOn(policy) && policy.retry.maxAttempts === 1
        ? `${name('hedge.mode')} with ${name('retry.maxAttempts')}: a hedge is an attempt, so none is sent; write retry.maxAttempts: 2`
        : null,
  },
  {
    code: 'FB092',
    fields: ['hedge.mode', 'budget.ratio', 'budget.minPerSecond', 'budget.window'],
    last: 'hedge.mode',
    text: (policy, name) =>
      isOn(policy) && grantsNoHedge(policy.budget)
        ? `${name('hedge.mode')}: half of ${name('budget.ratio')} and ${name('budget.minPerSecond')} over ${name('budget.window')} is less than one hedge: none is ever granted`
        : null,
  },
  {
    code: 'FB093',
    fields: ['hedge.floor', 'hedge.ceiling'],
    text: (policy, name) =>
      isOn(policy) && policy.hedge.floorMs > policy.hedge.ceilingMs
        ? `${name('hedge.floor')} is above ${name('hedge.ceiling')}`
        : null,
  },
  ...['hedge.floor', 'hedge.ceiling', 'hedge.minSamples'].map(
    (field): Rule => ({
      code: 'FB094',
      fields: [field, 'hedge.after'],
      together: true,
      text: (policy, name) =>
        isOn(policy) && policy.hedge.after.kind === 'fixed'
          ? `${name(field)} does nothing with ${name('hedge.after')}: only a quantile such as p95 is bounded by it`
          : null,
    }),
  ),
]

/** An attempt that is over by then needs no hedge. */
function laterRules(field: string, msOf: (hedge: EffectivePolicy['hedge']) => number | null): Rule[] {
  const rule = (clock: 'attempt' | 'total'): Rule => ({
    code: 'FB090',
    fields: [field, `timeouts.${clock}`],
    onlyIf: clock === 'total' ? [field] : [field, 'timeouts.attempt'],
    text: (policy, name, wrote) => {
      const ms = msOf(policy.hedge)
      const counts = wrote('timeouts.attempt') === (clock === 'attempt')
      return isOn(policy) && counts && ms !== null && ms >= policy.timeouts[`${clock}Ms`]
        ? `${name(field)} is not before ${name(`timeouts.${clock}`)}, which ends the attempt: no hedge is ever sent`
        : null
    },
  })
  return [rule('attempt'), rule('total')]
}

/** Hedges may use half of the budget. */
function grantsNoHedge({ ratio, minPerSecond, windowMs }: EffectivePolicy['budget']): boolean {
  return ratio === 0 && (minPerSecond * windowMs) / 1000 / 2 < 1
}

/** Of a route that writes the section itself. */
export function hedgeMessages(
  document: ParsedDocument,
  at: Path,
  policy: EffectivePolicy,
  { methods }: RouteSnapshot['match'],
): PolicyMessage[] {
  if (valueAt(document.root, [...at, 'hedge']) === undefined || !isOn(policy)) return []
  const say = (code: 'FB095' | 'FB096', text: string) => [
    message(document, { code, path: [...at, 'hedge'], mark: 'key', text }),
  ]
  if (policy.longPoll) return say('FB095', 'hedge does nothing on a route with longPoll: how late is late is not known')
  const { keyedWrites } = policy.hedge
  const mayBe = (method: string) =>
    mayRunTwice(method, keyedWrites ? 'keyed' : repeatability(method, [], NO_KEY).kind, keyedWrites)
  if (methods === null || [...methods].some(mayBe)) return []
  const text = `hedge does nothing for ${listText([...methods])}: only GET, HEAD and OPTIONS are hedged; for writes with an idempotency key, write hedge.keyedWrites: true`
  return say('FB096', text)
}

const NO_KEY = { keyHeaders: [], generate: false }
