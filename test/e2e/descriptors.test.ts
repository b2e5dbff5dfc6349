import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect } from 'vitest'
import type { Answer } from './harness/client.js'
import { heldSockets } from './harness/held-sockets.js'
import { toYaml, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'

/** Descriptors that are left to a process which has started: loading itself takes more than it needs later. */
const LEFT = 40

const missing = spawnSync('prlimit', ['--version']).error?.message
if (missing !== undefined) console.log(`skipped: a shortage of descriptors needs prlimit: ${missing}`)

describe.skipIf(missing !== undefined)('with no file descriptor left', () => {
  test('calls get a clear answer or a closed connection, the healthy upstream is not blamed, and all is well after', async ({
    stage,
  }) => {
    let release = (): void => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const upstream = (await stage.upstream()).runs(() => released.then(() => ({ body: 'fine' })))
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)])
    await sidecar.leaveDescriptors(LEFT)
    const startedCpuMs = await sidecar.cpuMs()
    let refused = 0
    const calls = Array.from({ length: 150 }, async () => {
      const answer = await sidecar.call('/payments/x')
      if (answer.status === 503) refused++
      return answer
    })
    const all = Promise.allSettled(calls)
    await until('a call is refused', () => refused, 10_000)
    release()
    const settled = await all
    const answers = settled.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    expect(answers.length).toBeGreaterThan(refused)
    expect(
      answers.map(wordsOf).filter(words => !/^(200 delivered|503 overloaded .*EMFILE, this host)/.test(words)),
    ).toEqual([])
    // Whatever reached the upstream has its answer; who has none was turned away before a byte of it was read.
    expect(upstream.hits).toBe(answers.filter(answer => answer.status === 200).length)
    expect(settled.flatMap(one => (one.status === 'rejected' ? [String(one.reason)] : [])).filter(isNoReset)).toEqual(
      [],
    )
    const { breaker, inFlight, waiting } = await until('the admin port answers again', () =>
      sidecar.upstreamStatus('payments').catch(() => null),
    )
    expect(breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
    expect([inFlight, waiting]).toEqual([0, 0])
    expect(await sidecar.health('/livez')).toBe(200)
    const again = await Promise.all(Array.from({ length: 5 }, () => sidecar.call('/payments/x')))
    expect(again.map(answer => answer.status)).toEqual([200, 200, 200, 200, 200])
    expect(sidecar.stderr).toBe('')
    expect(sidecar.logs.filter(line => line['msg'] !== 'request' && line['msg'] !== 'retry').length).toBeLessThan(12)
    expect((await sidecar.cpuMs()) - startedCpuMs).toBeLessThan(3_000)
    // The upstream promised to keep its connections for a minute.
    await upstream.close()
    await until('no connection is left', async () => (await heldSockets(sidecar.pid)).length === 0)
  })

  test('an edit made meanwhile is not lost: the last good policies serve on, and it is in force once there are some again', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const policies = await stage.policyDir({ 'policies.yaml': toYaml(upstreamDoc('payments', upstream.url)) })
    const sidecar = await stage.sidecar(policies)
    await sidecar.call('/payments/x')
    await sidecar.leaveDescriptors(LEFT)
    const held = await stage.connections(sidecar.port, 3 * LEFT)
    const [first] = held
    if (first === undefined) throw new Error('no connection')
    await policies.write('policies.yaml', toYaml(upstreamDoc('orders', upstream.url)))
    await until('the edit cannot be read', () => sidecar.errorLines().length > 0, 10_000)
    first.write('GET /payments/x HTTP/1.1\r\nHost: app\r\n\r\n')
    expect(String(await once(first, 'data'))).toMatch(/^HTTP\/1\.1 200 /)
    for (const socket of held) socket.destroy()
    await until(
      'the edit is in force',
      async () => (await sidecar.call('/orders/x').catch(() => null))?.status === 200,
      15_000,
    )
    expect((await sidecar.status()).generation).toBe(2)
    const told = sidecar.errorLines().map(line => `${line['msg']}: ${line['messages']}`)
    expect(told.filter(text => !/the last good ones stay in force.*EMFILE/.test(text))).toEqual([])
    // Not at each look.
    expect(told.length).toBeLessThan(4)
    expect(sidecar.stderr).toBe('')
    await upstream.close()
    await until('no connection is left', async () => (await heldSockets(sidecar.pid)).length === 0)
  })

  test('idle connections of the app that take every one of them neither spin the process nor fill the log', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)])
    await sidecar.leaveDescriptors(LEFT)
    const held = await stage.connections(sidecar.port, 3 * LEFT)
    await sleep(200)
    const [lines, cpuMs] = [sidecar.logs.length, await sidecar.cpuMs()]
    await sleep(1_000)
    expect((await sidecar.cpuMs()) - cpuMs).toBeLessThan(300)
    expect(sidecar.logs.length - lines).toBeLessThan(10)
    for (const socket of held) socket.destroy()
    await until('a call is served', async () => (await sidecar.call('/payments/x').catch(() => null))?.status === 200)
    expect(await sidecar.health('/readyz')).toBe(200)
  })
})

const isNoReset = (error: string): boolean => !/ECONNRESET|socket hang up/.test(error)

const wordsOf = ({ status, headers, text }: Answer): string => `${status} ${headers['forbear-outcome']} ${text}`
