import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RequestTrace } from '../../src/core/request-trace.js'
import { formatTraceParent, loggedTraceId, parseTraceParent, traceParentOf } from '../../src/core/trace-context.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const parent = { traceId: TRACE, spanId: SPAN, flags: 1 }

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })

describe('a traceparent', () => {
  it('reads back as it was written', () => {
    const known = fc.record({
      traceId: hex(32).filter(id => !/^0+$/.test(id)),
      spanId: hex(16).filter(id => !/^0+$/.test(id)),
      flags: fc.integer({ min: 0, max: 3 }),
    })
    fc.assert(fc.property(known, one => void expect(parseTraceParent(formatTraceParent(one))).toEqual(one)))
  })

  it('never throws, whatever the app sends', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const read = parseTraceParent(text)
        return read === null || /^[0-9a-f]{32}$/.test(read.traceId)
      }),
    )
  })

  it('of a later version may have more fields, of version 00 and ff may not', () => {
    expect(parseTraceParent(`cc-${TRACE}-${SPAN}-01-what-the-future-holds`)).toEqual(parent)
    expect(parseTraceParent(`cc-${TRACE}-${SPAN}-01`)).toEqual(parent)
    expect(parseTraceParent(`cc-${TRACE}-${SPAN}-01.more`)).toBeNull()
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-01-`)).toBeNull()
    expect(parseTraceParent(`ff-${TRACE}-${SPAN}-01`)).toBeNull()
  })

  it('keeps of its flags those that are known', () => {
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-ff`)?.flags).toBe(3)
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-04`)?.flags).toBe(0)
  })

  it('is none when there is no field, and not valid when there are two', () => {
    const value = formatTraceParent(parent)
    expect(traceParentOf(['accept', '*/*'])).toBeUndefined()
    expect(traceParentOf(['TraceParent', ` ${value} `])).toEqual(parent)
    expect(traceParentOf(['traceparent', value, 'traceparent', value])).toBeNull()
  })

  it('gives the log its trace id also where nothing is traced', () => {
    expect(loggedTraceId(['traceparent', formatTraceParent(parent)])).toBe(TRACE)
    expect(loggedTraceId(['traceparent', 'short'])).toBeNull()
    expect(loggedTraceId([])).toBeNull()
  })
})

describe('what is kept of a request for its trace', () => {
  const traceOf = (flags: number, dropsState = false) => {
    let spans = 0
    return new RequestTrace({ ...parent, flags }, null, dropsState, () => (++spans).toString(16).padStart(16, '0'))
  }

  it('is bounded, and says how much was left out', () => {
    const trace = traceOf(1)
    for (let n = 1; n <= 200; n++) {
      trace.attempt(n, false, n)
      trace.waited('backoff', n, n + 1)
    }
    expect([trace.attempts.length, trace.waits.length, trace.left]).toEqual([128, 128, 144])
  })

  it('is nothing when it is not sampled, and still names the span of each attempt', () => {
    const trace = traceOf(0)
    const attempt = trace.attempt(1, false, 0)
    trace.waited('slot', 0, 1)
    expect([trace.attempts, trace.waits, trace.left]).toEqual([[], [], 0])
    expect(trace.fields(attempt)).toEqual(['traceparent', `00-${TRACE}-${attempt.spanId}-00`])
  })

  it('empties the tracestate of a traceparent that was not valid', () => {
    const trace = traceOf(1, true)
    expect(trace.fields(trace.attempt(1, false, 0)).slice(2)).toEqual(['tracestate', ''])
  })
})
