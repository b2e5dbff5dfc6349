/** Words of other tools for words of forbear. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  disabled: ['off', 'no', 'false', 'none', 'disable'],
  enforce: ['on', 'yes', 'true', 'enabled', 'enable', 'enforcing', 'active'],
  enabled: ['on', 'yes', 'true', 'enable', 'active', 'enforce'],
  observe: ['dryrun', 'monitor', 'shadow', 'permissive', 'report', 'audit', 'log'],
  refuse: ['reject', 'fail', 'failfast', 'deny', 'error', 'drop'],
  wait: ['queue', 'hold', 'block', 'buffer', 'rideout'],
  fixed: ['constant', 'const', 'static', 'none'],
  exponential: ['expo', 'exponentialbackoff'],
  linear: ['incremental'],
  full: ['true', 'on', 'yes', 'fulljitter', 'random'],
  none: ['false', 'off', 'no', 'nojitter', 'disabled'],
  equal: ['equaljitter', 'half'],
  decorrelated: ['decorrelatedjitter'],
  target: ['rewrite', 'upstream'],
  preserve: ['passthrough', 'keep', 'original'],
  request: ['call', 'local'],
  upstream: ['global', 'host', 'service'],
  connect: ['connectfailure', 'connectionrefused', 'refused', 'connecterror', 'econnrefused'],
  reset: ['refusedstream', 'connectionreset', 'econnreset', 'resetbeforerequest', 'disconnect'],
  timeout: ['attempttimeout', 'pertrytimeout', 'timedout', 'etimedout'],
}

/** Envoy's and Istio's groups of statuses. */
const STATUSES: Readonly<Record<string, string>> = {
  '5xx': '502, 503, 504',
  gatewayerror: '502, 503, 504',
  servererror: '502, 503, 504',
  retriable4xx: '408, 425, 429',
  retriablestatuscodes: '502, 503, 504',
  unavailable: '503',
  ratelimited: '429',
}

/** The one of `words` that is meant by a word of another tool. */
export function synonym(text: string, words: readonly string[]): string | null {
  const bare = text.toLowerCase().replace(/[-_\s]/g, '')
  const status = words.includes('connect') ? STATUSES[bare] : undefined
  return status ?? words.find(word => WORDS[word]?.includes(bare)) ?? null
}
