/** Every code a message may carry. A code keeps its meaning for ever; a new kind of message gets a new one. */

interface CodeFacts {
  readonly severity: 'error' | 'warning'
  readonly title: string
}

const error = (title: string): CodeFacts => ({ severity: 'error', title })
const warning = (title: string): CodeFacts => ({ severity: 'warning', title })

const TABLE = {
  // The directory and its files
  FB001: error('the policy directory cannot be read'),
  FB002: error('no policy documents'),
  FB003: error('a file cannot be read'),
  FB004: error('a file is too large'),
  // YAML
  FB010: error('not valid YAML'),
  FB011: error('duplicate key'),
  FB012: error('unrendered template'),
  FB013: error('too many values once aliases are expanded'),
  FB014: error('nested too deeply'),
  FB015: error('an alias without a value'),
  FB016: error('a key that is not text'),
  FB017: error('a YAML feature that is not supported'),
  FB018: error('more YAML than is read'),
  FB019: error('more errors than are shown'),
  // The kind of document
  FB020: error('not a document of forbear'),
  FB021: error('unknown version of the format'),
  FB022: error('unknown kind'),
  // Fields
  FB030: error('unknown key'),
  FB032: error('missing key'),
  FB033: error('empty value'),
  FB034: error('wrong type'),
  FB035: error('unknown word'),
  FB036: error('out of range'),
  FB037: error('wrong form'),
  FB038: error('wrong number of items'),
  // The set as a whole
  FB040: error('two documents or routes of one name'),
  FB041: error('two upstreams listen on one port'),
  FB042: error('two upstreams claim one host'),
  FB043: error('two upstreams claim one path prefix'),
  FB044: error('policyRef names no Policy'),
  // Fields that do not fit together
  FB050: error('an attempt may take longer than the request'),
  FB051: warning('a retry on an answer that repeating cannot change'),
  FB052: error('retries without a budget'),
  FB053: warning('a budget that never grants a retry'),
  FB054: warning('a Retry-After cap above the total'),
  FB055: error('calls shall wait and none may'),
  FB056: warning('a backoff that begins at its cap'),
  FB057: warning('the breaker shall be open longer than it may'),
  FB058: error('a route loosens its budget'),
  FB059: error('two keys that exclude each other, or that need each other'),
  FB060: warning('a listener that other hosts can reach'),
  FB061: warning('attempts that cannot all run to their timeout'),
  FB062: error('a key is to be generated and no header may carry it'),
  FB063: warning('retries of calls that are hardly ever repeated'),
  FB064: warning('whenOpen beside a breaker that never opens'),
  FB065: warning('a route that no call reaches'),
  FB066: warning('an attempt clock on a long poll'),
  FB067: warning('a connect clock above the total'),
  FB068: warning('a budget that grants nothing but to very many calls'),
  FB069: warning('more warnings than are shown'),
  FB070: warning('a wildcard that matches only itself'),
  FB071: warning('a method that hardly any call has'),
  FB072: warning('two upstreams that calls by URL cannot tell apart'),
  FB073: warning('a slow call that no call can be'),
  FB074: warning('a setting of a mechanism that is off'),
  FB075: error('an upstream that calls itself'),
  FB076: warning('a backoff above the total'),
  FB077: warning('retries without a wait'),
  FB078: warning('a factor that nothing grows by'),
  FB079: warning('calls whose body is too large to wait'),
  FB081: error('a fault that both answers and breaks off'),
  FB080: warning('a throttle that forgets calls before they fail'),
  FB082: error('a fallback with two bodies'),
  FB083: warning('a fallback that says a write was done'),
  FB085: error('a poll that does not say until when'),
  FB086: warning('a poll of calls that are never polled'),
  FB087: error('a poll beside a long poll'),
  FB088: warning('a poll that ends before its first repeat'),
  FB090: error('a hedge later than the end of the attempt'),
  FB091: warning('hedges beside attempts that may not be two'),
  FB092: error('hedges without a budget'),
  FB093: error('a hedge whose floor is above its ceiling'),
  FB094: warning('bounds of a quantile beside a fixed time'),
  FB095: warning('hedges of a long poll'),
  FB096: warning('hedges of calls that are never hedged'),
  FB097: warning('a first redelivery later than the others'),
  FB098: warning('parking that can hardly redeliver'),
} as const satisfies Readonly<Record<string, CodeFacts>>

export type MessageCode = keyof typeof TABLE

export const CODES: Readonly<Record<MessageCode, CodeFacts>> = TABLE
