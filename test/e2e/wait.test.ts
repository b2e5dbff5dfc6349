/** `forbear wait` holds up what needs a sidecar until there is one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect } from 'vitest'
import { COMMAND } from '../docs/shell.js'
import { freePort } from './harness/ports.js'
import { test } from './harness/stage.js'
import { until } from './harness/time.js'

async function wait(...args: readonly string[]): Promise<{ readonly code: number; readonly err: string }> {
  const child = spawn(process.execPath, [COMMAND, 'wait', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, err }
}

describe.concurrent('forbear wait', () => {
  test('ends once the sidecar has started, and not before', async ({ stage }) => {
    const port = await freePort()
    let asked = 0
    let up = false
    const server = createServer((req, res) => {
      asked += 1
      res.writeHead(req.url === '/startupz' && up ? 200 : 503).end()
    })
    stage.later(async () => server.close())
    // A health port that listens on all addresses is reached on loopback.
    const waiting = wait('--health', `0.0.0.0:${port}`)
    let done = false
    void waiting.then(() => {
      done = true
    })
    server.listen(port, '127.0.0.1')
    await until('it has asked again', () => asked > 2, 15_000)
    expect(done).toBe(false)
    up = true
    expect(await waiting).toEqual({ code: 0, err: '' })
  })

  test('gives up after its time and says so', async () => {
    const port = await freePort()
    const { code, err } = await wait('--health', `127.0.0.1:${port}`, '--for', '100ms')
    expect(code).toBe(1)
    expect(err).toBe(`forbear: no sidecar has started at http://127.0.0.1:${port} within 0.1 s\n`)
  })

  test('refuses what is no address and no duration', async () => {
    expect((await wait('--health', 'here')).code).toBe(2)
    expect((await wait('--for', 'long')).code).toBe(2)
  })
})
