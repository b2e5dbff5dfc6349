import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Gate } from '../../src/core/gate.js'

const CAP = 30_000

/** Closed at 0 until 5000. */
function closedGate(): Gate {
  const gate = new Gate(CAP)
  for (let i = 0; i < 3; i++) gate.onAnswer(5000, 0)
  return gate
}

describe('gate', () => {
  it('lets everything through until asked', () => {
    const gate = new Gate(CAP)
    for (let i = 0; i < 100; i++) gate.onAnswer(null, i)
    expect(gate.state.kind).toBe('open')
    expect(gate.closedForMs(100)).toBe(0)
    expect(gate.takeProbe(100)).toBe(false)
  })

  it('closes at the third answer with a hint when they are half of the last second', () => {
    const gate = new Gate(CAP)
    for (let i = 0; i < 3; i++) gate.onAnswer(null, i)
    gate.onAnswer(2000, 10)
    gate.onAnswer(2000, 20)
    expect(gate.closedForMs(20)).toBe(0)
    gate.onAnswer(2000, 30)
    expect(gate.closedForMs(30)).toBe(2000)
    expect(gate.closedForMs(1530)).toBe(500)
  })

  it('stays open while fewer than half of the answers carry a hint', () => {
    const gate = new Gate(CAP)
    for (let i = 0; i < 4; i++) gate.onAnswer(null, 0)
    for (let i = 0; i < 3; i++) gate.onAnswer(2000, 0)
    expect(gate.state.kind).toBe('open')
    gate.onAnswer(2000, 0)
    expect(gate.state.kind).toBe('closed')
  })

  it('looks only at the last second', () => {
    const gate = new Gate(CAP)
    gate.onAnswer(2000, 0)
    gate.onAnswer(2000, 50)
    gate.onAnswer(2000, 1100)
    expect(gate.state.kind).toBe('open')
    for (let i = 0; i < 50; i++) gate.onAnswer(null, 1200)
    for (let i = 0; i < 3; i++) gate.onAnswer(2000, 2300)
    expect(gate.state.kind).toBe('closed')
  })

  it('takes a hint of 0 for none', () => {
    const gate = new Gate(CAP)
    for (let i = 0; i < 10; i++) gate.onAnswer(0, 0)
    expect(gate.state.kind).toBe('open')
  })

  it('is extended by a later hint and never shortened by an earlier one', () => {
    const gate = closedGate()
    gate.onAnswer(1000, 100)
    expect(gate.closedForMs(100)).toBe(4900)
    gate.onAnswer(6000, 200)
    expect(gate.closedForMs(200)).toBe(6000)
  })

  it('closes for no longer than the cap', () => {
    const gate = new Gate(CAP)
    for (let i = 0; i < 3; i++) gate.onAnswer(Number.MAX_SAFE_INTEGER, 0)
    expect(gate.closedForMs(0)).toBe(CAP)
  })

  it('closes for the cap at once on a hint that is too long', () => {
    const gate = new Gate(CAP)
    gate.onTooLong(CAP, 1000)
    expect(gate.state).toEqual({ kind: 'closed', untilMs: 31_000 })
  })

  it('uses a new cap from the next closing on', () => {
    const gate = new Gate(CAP)
    gate.reconfigure(700)
    for (let i = 0; i < 3; i++) gate.onAnswer(5000, 0)
    expect(gate.closedForMs(0)).toBe(700)
  })

  it('lets one call go when the time is over, and the rest after its good answer', () => {
    const gate = closedGate()
    expect(gate.takeProbe(4999)).toBe(false)
    expect(gate.closedForMs(5000)).toBe(0)
    expect(gate.takeProbe(5000)).toBe(true)
    expect(gate.takeProbe(5001)).toBe(false)
    expect(gate.closedForMs(5200)).toBe(800)
    gate.onProbe({ kind: 'good' }, 5300)
    expect(gate.state.kind).toBe('open')
    expect(gate.closedForMs(5300)).toBe(0)
  })

  it('closes again when the probe is told to wait', () => {
    const gate = closedGate()
    gate.takeProbe(5000)
    gate.onProbe({ kind: 'hinted', hintMs: 2000 }, 5100)
    expect(gate.closedForMs(5100)).toBe(2000)
    expect(gate.takeProbe(7100)).toBe(true)
  })

  it('gives the turn to the next call when the probe yields nothing', () => {
    const gate = closedGate()
    gate.takeProbe(5000)
    gate.onProbe({ kind: 'nothing' }, 5100)
    expect(gate.takeProbe(5100)).toBe(true)
  })

  it('does not wait for ever for a probe that never reports', () => {
    const gate = closedGate()
    gate.takeProbe(5000)
    expect(gate.takeProbe(5999)).toBe(false)
    expect(gate.takeProbe(6000)).toBe(true)
  })

  it('ignores the report of a probe when it has closed anew', () => {
    const gate = closedGate()
    gate.takeProbe(5000)
    gate.onTooLong(CAP, 5100)
    gate.onProbe({ kind: 'good' }, 5200)
    expect(gate.closedForMs(5200)).toBe(CAP - 100)
  })

  it('needs three new hinted answers to close after it has opened', () => {
    const gate = new Gate(CAP)
    for (let i = 0; i < 3; i++) gate.onAnswer(100, 0)
    gate.takeProbe(100)
    gate.onProbe({ kind: 'good' }, 150)
    gate.onAnswer(100, 200)
    expect(gate.state.kind).toBe('open')
  })

  it('opens on a reset', () => {
    const gate = closedGate()
    gate.reset()
    expect(gate.closedForMs(0)).toBe(0)
  })

  it('never stays closed beyond the cap and a probe for a hint it saw once', () => {
    const event = fc.tuple(fc.nat(900), fc.constantFrom('plain', 'hint', 'probe', 'nothing', 'good', 'too-long'))
    fc.assert(
      fc.property(fc.array(event), fc.nat(100_000), (events, hintMs) => {
        const gate = new Gate(CAP)
        let now = 0
        for (const [wait, kind] of events) {
          now += wait
          if (kind === 'plain') gate.onAnswer(null, now)
          if (kind === 'hint') gate.onAnswer(hintMs, now)
          if (kind === 'probe') gate.takeProbe(now)
          if (kind === 'nothing' || kind === 'good') gate.onProbe({ kind }, now)
          if (kind === 'too-long') gate.onTooLong(CAP, now)
          expect(gate.closedForMs(now)).toBeLessThanOrEqual(CAP)
          const over = now + CAP
          expect(gate.closedForMs(over)).toBe(0)
        }
        now += CAP
        const mustProbe = gate.state.kind !== 'open'
        expect(gate.takeProbe(now)).toBe(mustProbe)
        gate.onProbe({ kind: 'good' }, now)
        expect(gate.state.kind).toBe('open')
      }),
    )
  })
})
