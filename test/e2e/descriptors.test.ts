import { spawnSync } from 'node:child_process'
import { describe, expect } from 'vitest'
import type { Answer } from './harness/client.js'
import { upstreamDoc } from './harness/policies.js'
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
    const { breaker } = await until('the admin port answers again', () =>
      sidecar.upstreamStatus('payments').catch(() => null),
    )
    expect(breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
    expect(await sidecar.health('/livez')).toBe(200)
    const again = await Promise.all(Array.from({ length: 5 }, () => sidecar.call('/payments/x')))
    expect(again.map(answer => answer.status)).toEqual([200, 200, 200, 200, 200])
    expect(sidecar.stderr).toBe('')
    expect(sidecar.logs.filter(line => line['msg'] !== 'request' && line['msg'] !== 'retry').length).toBeLessThan(12)
    expect((await sidecar.cpuMs()) - startedCpuMs).toBeLessThan(3_000)
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

const wordsOf = ({ status, headers, text }: Answer): string => `${status} ${headers['forbear-outcome']} ${text}`
