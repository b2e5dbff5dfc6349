import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BodyCapture } from '../../src/proxy/body-capture.js'

/** An app's request whose bytes the test hands over one by one. */
class AppRequest extends IncomingMessage {
  constructor() {
    super(new Socket())
  }

  sends(bytes: string): void {
    this.push(Buffer.from(bytes))
  }

  ends(): void {
    this.complete = true
    this.push(null)
  }

  /** Bytes that the app sent and nobody has read. */
  get unread(): number {
    return this.readableLength
  }
}

const settle = async () => {
  for (let i = 0; i < 6; i += 1) await turn()
}

function collect(reader: Readable): { text: () => string; ended: () => boolean; error: () => Error | null } {
  let text = ''
  let ended = false
  let error: Error | null = null
  reader.on('data', chunk => {
    text += chunk
  })
  reader.on('end', () => {
    ended = true
  })
  reader.on('error', e => {
    error = e
  })
  return { text: () => text, ended: () => ended, error: () => error }
}

function start(maxBytes: number): { app: AppRequest; body: BodyCapture } {
  const app = new AppRequest()
  const body = new BodyCapture(app, null, null)
  body.capture(maxBytes)
  return { app, body }
}

describe('a captured body', () => {
  it('streams to the first attempt while it arrives', async () => {
    const { app, body } = start(100)
    const first = collect(body.open())
    app.sends('one')
    await settle()
    expect(first.text()).toBe('one')
    app.sends('two')
    app.ends()
    await settle()
    expect([first.text(), first.ended(), body.complete, body.replayable]).toEqual(['onetwo', true, true, true])
  })

  it('is sent again whole: what was kept, then what is still to come', async () => {
    const { app, body } = start(100)
    const first = body.open()
    collect(first)
    app.sends('one')
    await settle()
    first.destroy()
    app.sends('two')
    await settle()
    const second = collect(body.open())
    app.sends('three')
    app.ends()
    await settle()
    expect([second.text(), second.ended()]).toEqual(['onetwothree', true])
  })

  it('gives up replay once more than the limit has gone out, and streams on', async () => {
    const { app, body } = start(4)
    const first = collect(body.open())
    app.sends('1234')
    await settle()
    expect([body.replayable, body.capturedBytes]).toEqual([true, 4])
    app.sends('5')
    await settle()
    expect([body.replayable, body.capturedBytes]).toEqual([false, 0])
    app.sends('6')
    app.ends()
    await settle()
    expect([first.text(), first.ended(), body.complete]).toEqual(['123456', true, true])
  })

  it('never gives a later attempt a shorter body: that reader fails', async () => {
    const { app, body } = start(0)
    collect(body.open())
    app.sends('gone')
    await settle()
    const second = collect(body.open())
    await settle()
    expect([second.text(), second.ended(), second.error()?.message]).toEqual([
      '',
      false,
      'the request body cannot be sent again',
    ])
  })

  it('of any size stays untouched while no attempt has read, and the app is paused at the limit', async () => {
    const { app, body } = start(4)
    const first = body.open()
    app.sends('123456')
    app.sends('78')
    await settle()
    first.destroy()
    await settle()
    expect([body.untouched, body.replayable]).toEqual([true, true])
    app.sends('9')
    await settle()
    expect(app.unread).toBeGreaterThan(0)
    const second = collect(body.open())
    app.ends()
    await settle()
    expect([second.text(), second.ended(), body.untouched]).toEqual(['123456789', true, false])
  })

  it('is complete at exactly the limit without any reader', async () => {
    const { app, body } = start(4)
    let completed = 0
    body.onComplete(() => {
      completed += 1
    })
    app.sends('1234')
    app.ends()
    await settle()
    expect([body.complete, completed, body.replayable, body.untouched]).toEqual([true, 1, true, true])
    body.onComplete(() => {
      completed += 1
    })
    expect(completed).toBe(2)
  })

  it('keeps nothing when told so', async () => {
    const { app, body } = start(0)
    app.sends('12')
    await settle()
    expect(app.unread).toBe(2)
    const first = collect(body.open())
    app.ends()
    await settle()
    expect([first.text(), body.capturedBytes, body.replayable]).toEqual(['12', 0, false])
  })

  it('holds the app back when the upstream is slow', async () => {
    const { app, body } = start(0)
    const reader = body.open()
    reader.read(0)
    for (let i = 0; i < 40; i += 1) {
      app.sends('x'.repeat(10_000))
      await turn()
    }
    expect(reader.readableLength).toBeLessThan(100_000)
    const rest = collect(reader)
    app.ends()
    await settle()
    expect(rest.text().length).toBe(400_000)
  })

  it('fails the attempt when the app breaks off', async () => {
    const { app, body } = start(10)
    const first = collect(body.open())
    app.sends('12')
    await settle()
    body.fail()
    await settle()
    expect([first.ended(), first.error()?.message]).toEqual([
      false,
      'the app ended its request before the body was complete',
    ])
  })

  it('reads on and forgets once an answer is chosen and no attempt reads any more', async () => {
    const { app, body } = start(4)
    const first = body.open()
    collect(first)
    app.sends('12')
    await settle()
    body.release()
    first.destroy()
    app.sends('x'.repeat(1000))
    await settle()
    expect([app.unread, body.capturedBytes]).toEqual([0, 0])
  })

  it('asks for 100 Continue not even for the copy before somebody reads', async () => {
    const app = new AppRequest()
    let asked = 0
    const body = new BodyCapture(app, null, () => {
      asked += 1
    })
    body.capture(100)
    await settle()
    expect(asked).toBe(0)
    const { text } = collect(body.open())
    await settle()
    expect(asked).toBe(1)
    app.sends('abc')
    await settle()
    expect([text(), body.replayable, body.capturedBytes]).toEqual(['abc', true, 3])
  })

  it('asks for 100 Continue when it is first read, not before', async () => {
    const app = new AppRequest()
    let asked = 0
    const body = new BodyCapture(app, 2, () => {
      asked += 1
    })
    body.capture(0)
    const reader = body.open()
    expect(asked).toBe(0)
    collect(reader)
    await settle()
    expect(asked).toBe(1)
  })
})

describe('any body, any limit, any sequence of dying attempts', () => {
  const chunks = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 8 })
  const attempts = fc.array(fc.nat({ max: 4 }), { maxLength: 3 })

  it('every attempt gets a prefix of the body and the last one all of it, unless it was told that it cannot', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, fc.nat({ max: 30 }), attempts, async (parts, limit, dieAfter) => {
        const whole = parts.join('')
        const { app, body } = start(limit)
        let sent = 0
        for (const turns of dieAfter) {
          if (!body.replayable) break
          const reader = body.open()
          const got = collect(reader)
          for (let i = 0; i < turns; i += 1) {
            if (sent < parts.length) app.sends(parts[sent++] as string)
            await turn()
          }
          reader.destroy()
          expect(whole.startsWith(got.text())).toBe(true)
          expect(body.capturedBytes).toBeLessThanOrEqual(limit + 9 * 9)
        }
        const possible = body.replayable
        const last = collect(body.open())
        while (sent < parts.length) app.sends(parts[sent++] as string)
        app.ends()
        await settle()
        expect(last.text()).toBe(possible ? whole : '')
        expect(last.ended()).toBe(possible)
      }),
      { numRuns: 200 },
    )
  })
})
