/** Of the fields of breaker, throttle, fault and park those that make no sense together. */
import type { Rule } from './rule.js'
import { listText } from './schema-words.js'

const FINITE = Number.isFinite
/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

export const MECHANISM_RULES: readonly Rule[] = [
  {
    code: 'FB064',
    fields: ['breaker.whenOpen', 'breaker.mode'],
    onlyIf: ['breaker.whenOpen'],
    text: ({ breaker: { mode, whenOpen } }, name) =>
      whenOpen === 'wait' && mode !== 'enforce'
        ? `${name('breaker.whenOpen')} does nothing with ${name('breaker.mode')}: no call is held back`
        : null,
  },
  {
    code: 'FB057',
    fields: ['breaker.openFor', 'breaker.maxOpenFor'],
    text: ({ breaker }, name) =>
      breaker.openForMs > breaker.maxOpenForMs
        ? `${name('breaker.openFor')} is longer than ${name('breaker.maxOpenFor')}`
        : null,
  },
  {
    code: 'FB073',
    fields: ['breaker.slowCall.after', 'timeouts.attempt', 'timeouts.total'],
    onlyIf: ['breaker.slowCall.after'],
    text: ({ breaker: { slowCall }, timeouts: { attemptMs } }, name, wrote) =>
      FINITE(slowCall.afterMs) && slowCall.afterMs > attemptMs
        ? `${name('breaker.slowCall.after')} is above ${name(wrote('timeouts.attempt') ? 'timeouts.attempt' : 'timeouts.total')}: no attempt lasts so long`
        : null,
  },
  {
    code: 'FB074',
    fields: ['breaker.slowCall.ratio', 'breaker.slowCall.after'],
    onlyIf: ['breaker.slowCall.ratio'],
    text: ({ breaker: { slowCall } }, name) =>
      FINITE(slowCall.afterMs)
        ? null
        : `${name('breaker.slowCall.ratio')} does nothing with ${name('breaker.slowCall.after')}: say from when a call is slow, such as after: 2s`,
  },
  {
    code: 'FB074',
    fields: ['fault.status', 'fault.abort', 'fault.delay', 'fault.percent'],
    onlyIf: ['fault.status', 'fault.abort', 'fault.delay'],
    text: ({ fault }, name, wrote) =>
      fault.percent === 0 && !wrote('fault.percent')
        ? `${name(['fault.status', 'fault.abort', 'fault.delay'].find(wrote) ?? '')} does nothing with ${name('fault.percent')}: say what share of the calls it shall hit, such as percent: 20`
        : null,
  },
  {
    code: 'FB074',
    fields: ['pace.rate', 'pace.burst', 'pace.mode'],
    onlyIf: ['pace.rate', 'pace.burst'],
    text: ({ pace }, name, wrote) =>
      pace.mode === 'auto'
        ? `${name(wrote('pace.rate') ? 'pace.rate' : 'pace.burst')} does nothing with ${name('pace.mode')}: write mode: fixed, or leave it out`
        : null,
  },
  {
    code: 'FB055',
    fields: ['limits.maxWaiting', 'pace.mode'],
    text: ({ limits, pace }, name) =>
      limits.maxWaiting === 0 && pace.mode !== 'disabled'
        ? `${name('limits.maxWaiting')} with ${name('pace.mode')}: calls shall wait and none may`
        : null,
  },
  {
    code: 'FB074',
    fields: ['fallback.body', 'fallback.file', 'fallback.status', 'fallback.when'],
    onlyIf: ['fallback.body', 'fallback.file', 'fallback.status'],
    text: ({ fallback }, name, wrote) =>
      fallback.when.size === 0 && !wrote('fallback.when')
        ? `${name(['fallback.body', 'fallback.file', 'fallback.status'].find(wrote) ?? '')} does nothing without fallback.when: name the causes, such as when: [breaker-open, retries-exhausted]`
        : null,
  },
  {
    code: 'FB082',
    fields: ['fallback.file', 'fallback.body'],
    together: true,
    text: (_policy, name, wrote) =>
      wrote('fallback.file') && wrote('fallback.body')
        ? `${name('fallback.file')} beside fallback.body: an answer has one body; keep one of the two`
        : null,
  },
  {
    code: 'FB083',
    fields: ['fallback.methods', 'fallback.status'],
    onlyIf: ['fallback.methods'],
    text: ({ fallback }, name) => {
      const writes = [...fallback.methods].filter(method => !SAFE.has(method))
      return writes.length > 0 && fallback.status < 400
        ? `${name('fallback.methods')} with ${name('fallback.status')}: the app is told that its ${listText(writes)} was done; only you can know that this is right`
        : null
    },
  },
  {
    code: 'FB081',
    fields: ['fault.abort', 'fault.status'],
    text: ({ fault }, name) =>
      fault.abort && fault.status !== null
        ? `${name('fault.abort')} beside ${name('fault.status')}: a call that is broken off gets no status; keep one of the two`
        : null,
  },
  {
    code: 'FB097',
    fields: ['park.first', 'park.every'],
    text: ({ park }, name) =>
      park !== null && park.firstMs > park.everyMs
        ? `${name('park.first')} is above ${name('park.every')}: waits double from the first up to the other, so none doubles`
        : null,
  },
  {
    code: 'FB098',
    fields: ['park.first', 'park.maxAge'],
    text: ({ park }, name) =>
      park !== null && park.firstMs >= park.maxAgeMs
        ? `${name('park.first')} is not below ${name('park.maxAge')}: an entry is sent again once and then given up`
        : null,
  },
  {
    code: 'FB080',
    fields: ['throttle.window', 'timeouts.total', 'throttle.mode'],
    text: ({ throttle, timeouts }, name) =>
      throttle.mode !== 'disabled' && FINITE(timeouts.totalMs) && throttle.windowMs < timeouts.totalMs
        ? `${name('throttle.window')} is below ${name('timeouts.total')}: a call may be forgotten before it has failed`
        : null,
  },
]
