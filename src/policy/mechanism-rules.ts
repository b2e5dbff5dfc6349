/** Of the fields of breaker, throttle, fault and park those that make no sense together. */
import type { Rule } from './rule.js'

const FINITE = Number.isFinite

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
    fields: ['throttle.k', 'throttle.window', 'throttle.mode'],
    onlyIf: ['throttle.k', 'throttle.window'],
    text: ({ throttle }, name, wrote) =>
      throttle.mode === 'disabled' && !wrote('throttle.mode')
        ? `${name(wrote('throttle.k') ? 'throttle.k' : 'throttle.window')} does nothing with ${name('throttle.mode')}: write mode: enabled`
        : null,
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
