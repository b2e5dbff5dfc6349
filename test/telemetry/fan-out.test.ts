import { describe, expect, it } from 'vitest'
import type { EventSink, ForbearEvent } from '../../src/telemetry/events.js'
import { fanOut } from '../../src/telemetry/fan-out.js'
import { requestFinished, retryScheduled } from './events.js'

function recorder(): EventSink & { readonly events: ForbearEvent[] } {
  const events: ForbearEvent[] = []
  return { events, emit: event => void events.push(event) }
}

const broken: EventSink = {
  emit() {
    throw new Error('disk on fire')
  },
}

describe('fanOut', () => {
  it('gives every event to every sink, in order', () => {
    const sinks = [recorder(), recorder()]
    const all = fanOut(sinks)
    const events = [requestFinished(), retryScheduled()]
    for (const event of events) all.emit(event)
    expect(sinks.map(sink => sink.events)).toEqual([events, events])
  })

  it('goes on when a sink throws, and tells the others once', () => {
    const healthy = recorder()
    const all = fanOut([broken, healthy])
    all.emit(requestFinished())
    all.emit(requestFinished())
    expect(healthy.events).toEqual([
      { type: 'notice', level: 'error', message: 'a telemetry sink failed', detail: { error: 'disk on fire' } },
      requestFinished(),
      requestFinished(),
    ])
  })

  it('survives when every sink throws', () => {
    expect(() => fanOut([broken, { ...broken }]).emit(requestFinished())).not.toThrow()
  })
})
