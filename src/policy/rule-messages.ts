/**
 * Applies the rules between fields to what is in force for one upstream or route. A rule speaks only when somebody wrote
 * one of its fields; it marks the one that was written last and says where the others are from.
 */
import type { EffectivePolicy } from '../core/snapshot.js'
import { message, whereText } from './document.js'
import { RULES } from './field-rules.js'
import type { PolicyMessage } from './messages.js'
import type { Field, Fields, Layer } from './overlay.js'
import type { Rule } from './rule.js'

export type Written = Field & { readonly layer: Layer }

export function ruleMessages(fields: Fields, policy: EffectivePolicy): PolicyMessage[] {
  return [...RULES.flatMap(rule => applyRule(rule, fields, policy)), ...statusMessages(fields)]
}

function applyRule(rule: Rule, fields: Fields, policy: EffectivePolicy): PolicyMessage[] {
  if ([...rule.fields, ...(rule.also ?? [])].some(name => fields.get(name)?.faulty)) return []
  if (rule.together && new Set(rule.fields.map(name => written(fields, name)?.layer ?? null)).size > 1) return []
  if ((rule.onlyIf ?? rule.fields).every(name => written(fields, name) === null)) return []
  const marked = rule.fields
    .flatMap(name => written(fields, name) ?? [])
    .reduce((last, next) => (next.layer.rank > last.layer.rank ? next : last))
  if (rule.last !== undefined && (written(fields, rule.last)?.layer.rank ?? 0) < marked.layer.rank) return []
  const text = rule.text(
    policy,
    name => nameOf(fields, name, marked),
    name => written(fields, name) !== null,
  )
  return text === null ? [] : [message(marked.layer.document, { code: rule.code, path: marked.path, text })]
}

/** A route may only tighten the budget of its upstream: its retries are withdrawn from both. */
export function budgetMessages(route: Ruled, upstream: Ruled): PolicyMessage[] {
  return (['ratio', 'minPerSecond', 'window'] as const).flatMap(name => {
    const field = written(route.fields, `budget.${name}`)
    const above = upstream.fields.get(`budget.${name}`)
    if (field === null || above === undefined || field === above || field.faulty || above.faulty) return []
    const key = name === 'window' ? 'windowMs' : name
    if (route.policy.budget[key] <= upstream.policy.budget[key]) return []
    const limit = nameOf(upstream.fields, `budget.${name}`, field)
    const text = `budget.${name} ${field.value} is above the upstream's own ${limit}: a route may only tighten it`
    return [message(field.layer.document, { code: 'FB058', path: field.path, text })]
  })
}

interface Ruled {
  readonly fields: Fields
  readonly policy: EffectivePolicy
}

/** The statuses of 4xx that mean "later" rather than "no" (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4). */
const LATER = new Set([408, 425, 429])

function statusMessages(fields: Fields): PolicyMessage[] {
  const field = written(fields, 'retry.retryOn')
  if (field === null || field.faulty || !Array.isArray(field.value)) return []
  return field.value.flatMap((status: unknown, index) => {
    if (typeof status !== 'number' || status < 400 || status > 499 || LATER.has(status)) return []
    const text = `${status} is answered the same however often one asks: of 4xx only 408, 425 and 429 are worth a retry`
    return [message(field.layer.document, { code: 'FB051', path: [...field.path, index], text })]
  })
}

/** `timeouts.total 30s`, and where it is from unless it is the one that the message marks. */
function nameOf(fields: Fields, name: string, marked: Field): string {
  const field = fields.get(name)
  const text = `${name} ${shown(field?.value)}`
  if (field === undefined || field === marked) return text
  return `${text} (${field.layer === null ? 'the default' : whereText(field.layer.document, field.path)})`
}

function shown(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value)
}

/** The field as the layers wrote it; `null` where it is built in. */
export function written(fields: Fields, name: string): Written | null {
  const field = fields.get(name)
  return field === undefined || field.layer === null ? null : (field as Written)
}
