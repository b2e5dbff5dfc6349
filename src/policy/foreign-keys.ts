/** What other tools call the settings of forbear (Envoy, Istio, Dapr, resilience4j, Polly, Hystrix, AWS), in lower case without `-` and `_`. */

const SCALARS: Readonly<Record<string, readonly string[]>> = {
  'spec.retry.maxAttempts': [
    'attempts',
    'maxretries',
    'maxretry',
    'maxretryattempts',
    'maxtries',
    'numretries',
    'numberofretries',
    'retries',
    'retrycount',
    'retry',
  ],
  'spec.retry.retryOn': [
    'retriablestatuscodes',
    'retryablestatuscodes',
    'retrystatuscodes',
    'retryonstatus',
    'retryonstatuscodes',
    'retrycodes',
    'statuscodes',
    'retryexceptions',
    'retryableerrors',
  ],
  'spec.retry.onHeaders': ['retriableheaders'],
  'spec.retry.maxBody': ['perrequestbufferlimitbytes', 'maxrequestbytes', 'maxbodysize', 'maxbodybytes'],
  'spec.retry.backoff.kind': ['policy', 'backofftype', 'strategy'],
  'spec.retry.backoff.base': [
    'initialinterval',
    'initialdelay',
    'initialbackoff',
    'basedelay',
    'baseinterval',
    'backoffms',
    'basems',
    'delay',
    'waitduration',
    'minbackoff',
  ],
  'spec.retry.backoff.cap': ['maxinterval', 'maxdelay', 'maxbackoff', 'capms'],
  'spec.retry.backoff.factor': [
    'multiplier',
    'backoffmultiplier',
    'exponentialbackoffmultiplier',
    'backoffbaseinterval',
  ],
  'spec.retry.backoff.jitter': ['randomizationfactor', 'randomizedwaitfactor'],
  'spec.retry.idempotency.keyHeaders': ['idempotencykey', 'idempotencykeyheader', 'idempotencyheader', 'keyheader'],
  'spec.timeouts.total': [
    'timeout',
    'timeoutms',
    'timeoutseconds',
    'requesttimeout',
    'overalltimeout',
    'totaltimeout',
    'deadline',
  ],
  'spec.timeouts.attempt': [
    'pertrytimeout',
    'perattempttimeout',
    'perattempt',
    'pertry',
    'attempttimeout',
    'timeoutduration',
  ],
  'spec.timeouts.connect': ['connecttimeout', 'connectiontimeout', 'connecttimeoutms', 'dialtimeout'],
  'spec.timeouts.idle': ['idletimeout', 'streamidletimeout', 'sockettimeout', 'readtimeout'],
  'spec.budget.ratio': ['budgetpercent', 'retryratio', 'retrybudgetratio'],
  'spec.budget.window': ['ttl'],
  'spec.budget.minPerSecond': ['minretriespersecond', 'minretryconcurrency'],
  'spec.breaker.mode': ['enabled', 'disabled'],
  'spec.breaker.failureRatio': ['failureratethreshold', 'errorthresholdpercentage', 'errorthreshold', 'errorratio'],
  'spec.breaker.window': ['slidingwindowsize', 'samplingduration', 'rollingwindow', 'rollingcounttimeout'],
  'spec.breaker.minRequests': [
    'minimumnumberofcalls',
    'minimumthroughput',
    'requestvolumethreshold',
    'volumethreshold',
  ],
  'spec.breaker.consecutiveFailures': [
    'consecutive5xxerrors',
    'consecutivegatewayerrors',
    'consecutiveerrors',
    'consecutive5xx',
    'failurethreshold',
    'maxfailures',
    'trip',
  ],
  'spec.breaker.openFor': [
    'waitdurationinopenstate',
    'baseejectiontime',
    'breakduration',
    'durationofbreak',
    'resettimeout',
    'sleepwindow',
  ],
  'spec.breaker.maxOpenFor': ['maxejectiontime'],
  'spec.breaker.slowCall.after': ['slowcalldurationthreshold', 'slowcallduration'],
  'spec.breaker.slowCall.ratio': ['slowcallratethreshold', 'slowcallratio'],
  'spec.hedge.after': ['hedgedelay', 'hedgingdelay'],
  'spec.hedge.maxHedges': ['maxhedgedattempts'],
  'spec.limits.maxInFlight': [
    'maxconcurrentcalls',
    'maxconcurrency',
    'maxconcurrentrequests',
    'maxrequests',
    'http2maxrequests',
    'maxparallelrequests',
  ],
  'spec.limits.maxWaiting': ['maxpendingrequests', 'http1maxpendingrequests', 'maxqueuesize', 'queuesize'],
  'spec.target': [
    'url',
    'uri',
    'host',
    'hostname',
    'baseurl',
    'address',
    'endpoint',
    'upstream',
    'destination',
    'server',
    'service',
  ],
  'spec.policyRef': ['policyname', 'extends', 'inherits', 'use'],
  'spec.listen': ['port', 'bind', 'listener'],
  'spec.tls.caFile': ['cacert', 'cacertificates', 'ca'],
  'spec.tls.certFile': ['cert', 'clientcert', 'clientcertificate'],
  'spec.tls.keyFile': ['clientkey', 'privatekey'],
  'spec.tls.serverName': ['sni'],
  'spec.match.pathPrefix': ['prefix'],
}

const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'spec.retry': ['retries', 'retrypolicy', 'retrystrategy'],
  'spec.retry.backoff': ['retrybackoff', 'exponentialbackoff'],
  'spec.retry.throttled': ['ratelimitedretrybackoff'],
  'spec.timeouts': ['timeout', 'deadlines'],
  'spec.budget': ['retrybudget'],
  'spec.breaker': ['circuitbreaker', 'circuitbreakers', 'outlierdetection'],
  'spec.pace': ['ratelimit', 'ratelimiter', 'ratelimiting', 'pacing'],
  'spec.throttle': ['adaptivethrottling', 'adaptivethrottler', 'admissioncontrol'],
  'spec.fault': ['faultinjection', 'chaos'],
  'spec.hedge': ['hedging', 'hedgepolicy', 'hedgingpolicy'],
  'spec.limits': ['bulkhead', 'threadpool', 'concurrency'],
  'spec.pool': ['connectionpool'],
}

const invert = (table: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([path, names]) => names.map(name => [name, path] as const)))

const BY_SCALAR = invert(SCALARS)
const BY_SECTION = invert(SECTIONS)

/** The path of the setting that other tools call `key`; which one also depends on whether it holds a mapping. */
export function foreignKeyPath(key: string, value: unknown): string | null {
  const bare = key.toLowerCase().replace(/[-_.\s]/g, '')
  const isSection = typeof value === 'object' && value !== null && !Array.isArray(value)
  const [first, second] = isSection ? [BY_SECTION, BY_SCALAR] : [BY_SCALAR, BY_SECTION]
  return first.get(bare) ?? second.get(bare) ?? null
}
