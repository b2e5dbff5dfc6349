/** How the built command ends, and how it does not begin. */

import { once } from 'node:events'
import { Agent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { until, within } from '../../e2e/harness/time.js'
import { admit } from './support/api-server.js'
import { pod } from './support/pods.js'
import { newCertificates, WebhookProcess } from './support/webhook-process.js'

let webhook: WebhookProcess | null = null
afterEach(async () => {
  await webhook?.stop()
  webhook = null
})

it('on SIGTERM it is not ready any more, answers all that still comes, and exits 0', async () => {
  const running = (webhook = await WebhookProcess.start())
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const results: boolean[] = []
  let sending = true
  const callers = Array.from({ length: 8 }, async () => {
    while (sending) results.push((await admit({ ...running.at('/mutate'), agent }, { object: pod() })).patch.length > 0)
  })
  await until('reviews go through', () => results.length > 20, 20_000)
  running.child.kill('SIGTERM')
  await until('it is not ready', async () => (await running.health('/readyz')).status === 503)
  const at = results.length
  // As long as endpoints take to be forgotten.
  await until('more reviews go through', () => results.length > at + 20, 20_000)
  sending = false
  await Promise.all(callers)
  agent.destroy()
  expect(results.every(Boolean)).toBe(true)
  expect(await within('it ends', running.exited, 20_000)).toBe(0)
})

it.each(['tcp', 'tls'])('waits for no client that is merely connected (%s)', async kind => {
  const running = (webhook = await WebhookProcess.start())
  const { port } = running
  const client = kind === 'tcp' ? connect(port, '127.0.0.1') : connectTls({ port, rejectUnauthorized: false })
  client.on('error', () => undefined)
  await once(client, kind === 'tcp' ? 'connect' : 'secureConnect')
  running.child.kill('SIGTERM')
  // 2 s of quiet and 1 s of grace; a handshake alone may take 10 s.
  expect(await within('it ends', running.exited, 8000)).toBe(0)
  client.destroy()
})

it('a second SIGTERM ends it at once, whoever still calls', async () => {
  const running = (webhook = await WebhookProcess.start(['--drain-period', '5m']))
  let going = true
  const caller = (async () => {
    while (going) await admit(running.at('/mutate'), { object: pod() }).catch(() => undefined)
  })()
  running.child.kill('SIGTERM')
  await until('it drains', () => running.output.includes('draining'), 20_000)
  running.child.kill('SIGTERM')
  expect(await within('it ends', running.exited, 20_000)).toBe(0)
  going = false
  await caller
})

it('killed in the middle of reviews it leaves nothing: another one serves from the same files', async () => {
  const set = await newCertificates()
  const first = (webhook = await WebhookProcess.spawn(set, set['ca.crt']))
  await first.ready()
  const calls = Array.from({ length: 20 }, () =>
    admit(first.at('/mutate'), { object: pod() }).then(
      () => 'answered',
      () => 'failed',
    ),
  )
  first.child.kill('SIGKILL')
  // Whole or not at all.
  for (const outcome of await Promise.all(calls)) expect(['answered', 'failed']).toContain(outcome)
  await first.exited
  const second = await WebhookProcess.spawn(set, set['ca.crt'], ['--listen', `127.0.0.1:${first.port}`])
  await second.ready()
  expect((await admit(first.at('/mutate'), { object: pod() })).patch).not.toEqual([])
  await second.stop()
})

it('a port that is taken is told in one line, with exit code 78', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const set = await newCertificates()
  webhook = await WebhookProcess.spawn(set, set['ca.crt'], ['--listen', `127.0.0.1:${port}`])
  expect(await within('it ends', webhook.exited, 20_000)).toBe(78)
  expect(webhook.output).toContain(`cannot listen on 127.0.0.1:${port}: another process has this port`)
  other.close()
})
