/**
 * Response flags as Envoy writes them, for dashboards and eyes that know them. Several outcomes share a flag, and
 * some have none; `outcome` in the same line is exact.
 */
import type { Outcome } from '../core/reasons.js'

/** `-` = no flag. */
const FLAGS: Readonly<Record<Outcome, string>> = {
  delivered: '-',
  fallback: '-',
  'hedge-won': '-',
  'poll-pending': '-',

  // Upstream overflow: refused to protect the upstream. Envoy counts an empty retry budget here too.
  'breaker-open': 'UO',
  overloaded: 'UO',
  throttled: 'UO',
  'budget-exhausted': 'UO',
  // Upstream retry limit exceeded.
  'retries-exhausted': 'URX',
  // Upstream request timeout.
  'attempt-timeout': 'UT',
  deadline: 'UT',
  // Upstream connection failure.
  connect: 'UF',
  // Upstream connection termination, before or after the response head.
  reset: 'UC',
  cut: 'UC',
  // Upstream protocol error.
  'bad-response': 'UPE',
  // Downstream protocol error.
  'bad-request': 'DPE',
  'headers-too-large': 'DPE',
  // Downstream connection termination.
  aborted: 'DC',
  // No route; no cluster.
  'no-route': 'NR',
  'no-policy': 'NC',
  // Rate limited: the upstream asked for a pause.
  'gate-closed': 'RL',

  // Envoy has no letters for these.
  layer: '-',
  'not-repeatable': '-',
  'body-too-large': '-',
  'retry-after-too-long': '-',
  parked: '-',
  loop: '-',
  draining: '-',
}

export function flagsOf(outcome: Outcome): string {
  return FLAGS[outcome]
}
