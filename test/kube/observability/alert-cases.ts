/** Series with one value each 15 s, in promtool's notation, and what fires on them. */
export interface AlertCase {
  readonly what: string
  readonly series: Readonly<Record<string, string>>
  readonly at: string
  /** Labels beside `alertstate`. */
  readonly firing: readonly string[]
}

const POD = 'namespace="shop",pod="a",upstream="payments"'
const DAY = 86_400
const warning = (alert: string, labels = ',namespace="shop",upstream="payments"'): string =>
  `alertname="${alert}",severity="warning"${labels}`
const critical = (alert: string, labels = ',namespace="shop",upstream="payments"'): string =>
  `alertname="${alert}",severity="critical"${labels}`

/** 4 calls a second in two pods, so many retries and hedges for 100 of them. */
const traffic = (retries: number, hedges = 0): AlertCase['series'] => ({
  [`forbear_requests_total{${POD},outcome="delivered"}`]: '0+30x80',
  'forbear_requests_total{namespace="shop",pod="b",upstream="payments",outcome="delivered"}': '0+30x80',
  [`forbear_retries_total{${POD},reason="503"}`]: `0+${(retries * 60) / 100}x80`,
  [`forbear_hedges_total{${POD},result="won"}`]: `0+${(hedges * 60) / 100}x80`,
  [`forbear_hedges_total{${POD},result="observed"}`]: '0+30x80',
  [`forbear_budget_ratio{${POD},route=""}`]: '0.2x80',
})

const UPSTREAMS: readonly AlertCase[] = [
  {
    what: 'warn when retries are over half of the budget',
    series: traffic(15),
    at: '15m',
    firing: [warning('ForbearRetriesNearBudget')],
  },
  {
    what: 'count hedges as what the budget pays',
    series: traffic(7, 7),
    at: '15m',
    firing: [warning('ForbearRetriesNearBudget')],
  },
  { what: 'are silent below half of the budget', series: traffic(7), at: '15m', firing: [] },
  { what: 'wait for five minutes of it', series: traffic(15), at: '4m', firing: [] },
  {
    what: 'do not compare shares where there is hardly a call',
    series: {
      [`forbear_requests_total{${POD},outcome="connect"}`]: '0+1x80',
      [`forbear_retries_total{${POD},reason="connect"}`]: '0+2x80',
      [`forbear_budget_ratio{${POD},route=""}`]: '0.2x80',
    },
    at: '15m',
    firing: [],
  },
  {
    what: 'warn when the budget refuses retries for minutes',
    series: { [`forbear_retries_denied_total{${POD},reason="budget-exhausted"}`]: '0+6x80' },
    at: '15m',
    firing: [warning('ForbearBudgetExhausted')],
  },
  {
    what: 'let other reasons against a retry be',
    series: { [`forbear_retries_denied_total{${POD},reason="retries-exhausted"}`]: '0+6x80' },
    at: '15m',
    firing: [],
  },
  {
    what: 'call for help when a breaker stays open, probes between',
    series: {
      [`forbear_breaker_state{${POD},route=""}`]: '2 2 2 1 2 2 2 1 2 2 2 1 2 2 2 1 2 2 2',
      'forbear_breaker_state{namespace="shop",pod="b",upstream="payments",route=""}': '2x19',
      'forbear_breaker_state{namespace="shop",pod="b",upstream="ledger",route=""}': '0x19',
    },
    at: '4m',
    firing: [critical('ForbearBreakerOpen')],
  },
  {
    what: 'let a breaker be that was open for a minute',
    series: { [`forbear_breaker_state{${POD},route=""}`]: '2 2 2 2 0x20' },
    at: '4m',
    firing: [],
  },
  {
    what: 'warn of a client certificate in time',
    series: { [`forbear_tls_certificate_expiry_timestamp_seconds{${POD}}`]: `${13 * DAY}x80` },
    at: '15m',
    firing: [warning('ForbearClientCertificateExpires')],
  },
  {
    what: 'say nothing of one that has three weeks left',
    series: { [`forbear_tls_certificate_expiry_timestamp_seconds{${POD}}`]: `${21 * DAY}x80` },
    at: '15m',
    firing: [],
  },
]

const info = (pod: string, hash: string, policies: string): string =>
  `forbear_policy_info{namespace="shop",pod="${pod}",hash="${hash}",policies="${policies}"}`

const POLICIES: readonly AlertCase[] = [
  {
    what: 'warn once when policies are refused, however many sidecars do',
    series: {
      'forbear_policy_last_reload_successful{namespace="shop",pod="a"}': '1 0x40',
      'forbear_policy_last_reload_successful{namespace="shop",pod="b"}': '1 0x40',
    },
    at: '8m',
    firing: [warning('ForbearReloadFailing', ',namespace="shop"')],
  },
  {
    what: 'let a refused edit be that was mended at once',
    series: { 'forbear_policy_last_reload_successful{namespace="shop",pod="a"}': '1 0x8 1x40' },
    at: '8m',
    firing: [],
  },
  {
    what: 'warn when pods run different sets of the same policies for five minutes',
    series: { [info('a', 'old', 'shop')]: '1x40', [info('b', 'new', 'shop')]: '1x40' },
    at: '8m',
    firing: [warning('ForbearPoliciesDiffer', ',namespace="shop",policies="shop"')],
  },
  {
    what: 'give an edit its two minutes',
    series: {
      [info('a', 'old', 'shop')]: '1x8 stale',
      [info('a', 'new', 'shop')]: '_x9 1x40',
      [info('b', 'new', 'shop')]: '1x50',
    },
    at: '8m',
    firing: [],
  },
  {
    what: 'do not compare pods of different ConfigMaps',
    series: { [info('a', 'one', 'shop')]: '1x40', [info('b', 'two', 'ledger')]: '1x40' },
    at: '8m',
    firing: [],
  },
]

const PARKING: readonly AlertCase[] = [
  {
    what: 'call for help when a store takes no calls',
    series: { [`forbear_parked_calls_total{${POD},step="refused"}`]: '0+1x80' },
    at: '15m',
    firing: [critical('ForbearParkingRefused')],
  },
  {
    what: 'tell of parked calls that were given up until somebody has looked, once for a shared store',
    series: {
      'forbear_parked_entries{namespace="shop",pod="a",state="dead"}': '0x20 1x60',
      'forbear_parked_entries{namespace="shop",pod="b",state="dead"}': '0x20 1x60',
    },
    at: '15m',
    firing: [warning('ForbearParkedCallsDead', ',namespace="shop"')],
  },
  {
    what: 'let parked calls be that wait',
    series: {
      'forbear_parked_entries{namespace="shop",pod="a",state="waiting"}': '7x80',
      'forbear_parked_entries{namespace="shop",pod="a",state="dead"}': '0x80',
    },
    at: '15m',
    firing: [],
  },
]

const SYSTEM = ',namespace="forbear-system"'
const LOADS = 'forbear_webhook_certificate_loads_total{namespace="forbear-system",pod="w",result="failed"}'
const certificate = 'forbear_webhook_certificate_expiry_timestamp_seconds{namespace="forbear-system",pod="w"}'

const WEBHOOK: readonly AlertCase[] = [
  {
    what: 'warn when the webhook cannot judge',
    series: {
      'forbear_webhook_reviews_total{namespace="forbear-system",pod="w",webhook="mutate",result="error"}': '0+1x80',
      'forbear_webhook_reviews_total{namespace="forbear-system",pod="w",webhook="mutate",result="denied"}': '0+1x80',
    },
    at: '15m',
    firing: [warning('ForbearWebhookErrors', `${SYSTEM},webhook="mutate"`)],
  },
  {
    what: 'call for help when the certificate of the webhook is about to end',
    series: { [certificate]: `${13 * DAY}x80` },
    at: '15m',
    firing: [critical('ForbearWebhookCertificateExpires', SYSTEM)],
  },
  {
    what: 'call for help when it has none',
    series: { [certificate]: '0x80' },
    at: '15m',
    firing: [critical('ForbearWebhookCertificateExpires', SYSTEM)],
  },
  { what: 'say nothing of a fresh one', series: { [certificate]: `${80 * DAY}x80` }, at: '15m', firing: [] },
  {
    what: 'warn when a mounted certificate is unusable, be it the first',
    series: { [LOADS]: '_x30 1x60' },
    at: '15m',
    firing: [warning('ForbearWebhookCertificateUnusable', SYSTEM)],
  },
  {
    what: 'warn when one more is',
    series: { [LOADS]: '1x70 2x30' },
    at: '20m',
    firing: [warning('ForbearWebhookCertificateUnusable', SYSTEM)],
  },
  { what: 'have done with it a quarter of an hour later', series: { [LOADS]: '_x4 1x120' }, at: '20m', firing: [] },
]

export const CASES: readonly AlertCase[] = [...UPSTREAMS, ...POLICIES, ...PARKING, ...WEBHOOK]
