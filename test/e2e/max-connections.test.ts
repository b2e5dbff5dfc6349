import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'vitest'
import { upstreamDoc } from './harness/policies.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'

async function connected(stage: Stage, port: number) {
  const socket = connect(port, '127.0.0.1')
  stage.later(async () => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

test('--max-connections bounds the app, is told in the log, and leaves health and admin ports alone', async ({
  stage,
}) => {
  const upstream = (await stage.upstream()).plays({ body: 'fine' })
  const sidecar = await stage.sidecar([upstreamDoc('api', upstream.url)], ['--max-connections', '2'])
  const held = [await connected(stage, sidecar.port), await connected(stage, sidecar.port)]
  await expect(sidecar.call('/api/x')).rejects.toThrow()
  const line = await until('a line', () => sidecar.logs.find(each => String(each['msg']).includes('are refused')))
  expect(line).toMatchObject({ level: 40, detail: { role: 'shared', upstream: null, refused: 1 } })
  for (let n = 0; n < 3; n++) await connected(stage, sidecar.adminPort)
  expect([await sidecar.health('/livez'), (await sidecar.admin('/status')).status]).toEqual([200, 200])
  for (const socket of held) socket.destroy()
  await until('room', async () => (await sidecar.call('/api/x').catch(() => null))?.text === 'fine')
})

test('--max-connections 0 exits 2 and says what to write', async ({ stage }) => {
  const sidecar = await stage.spawn([upstreamDoc('api', 'http://127.0.0.1:9')], ['--max-connections', '0'])
  expect((await sidecar.exitWithin(10_000)).code).toBe(2)
  expect(sidecar.output).toContain('write a whole number from 1')
})
