import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { guide, portTakenMessage } from '../../src/demo/guide.js'

const addresses = { shared: '[::1]:1', admin: '127.0.0.1:2', own: '127.0.0.1:3', upstream: '127.0.0.1:4' }

describe('the guide of the demo', () => {
  it('shows both ways in, how to switch the mode and where to look', () => {
    const text = guide(addresses, false)
    for (const line of [
      'curl -i http://[::1]:1/flaky/orders/1',
      'curl -i http://127.0.0.1:3/orders/1',
      'curl -X POST http://127.0.0.1:4/__mode/down',
      'curl http://127.0.0.1:2/status',
      'curl http://127.0.0.1:4/__stats',
    ]) {
      expect(text).toContain(line)
    }
  })

  it('says how to get traffic, or that it is there', () => {
    expect(guide(addresses, false)).toContain('--traffic')
    expect(guide(addresses, true)).not.toContain('--traffic')
  })
})

describe('a taken port', () => {
  it('is named together with what to do', async () => {
    const holder = createServer()
    await new Promise<void>(resolve => holder.listen(0, '127.0.0.1', resolve))
    const { port } = holder.address() as { port: number }
    const error = await new Promise(resolve => createServer().on('error', resolve).listen(port, '127.0.0.1'))
    holder.close()
    expect(portTakenMessage(error)).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}\\n.* --listen`))
  })

  it('is not blamed for other errors', () => {
    expect(portTakenMessage(new Error('no'))).toBeNull()
    expect(portTakenMessage('EADDRINUSE')).toBeNull()
  })
})
