import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limitConnections } from '../../src/proxy/connection-limit.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('tells of refused connections once a minute, and is silent when there are none', () => {
  const server = new EventEmitter() as Server
  const told: number[] = []
  limitConnections(server, 7, refused => told.push(refused))
  expect(server.maxConnections).toBe(7)
  for (let n = 0; n < 5; n++) server.emit('drop')
  expect(told).toEqual([1])
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual([1, 4])
  vi.advanceTimersByTime(60_000)
  expect([told, vi.getTimerCount()]).toEqual([[1, 4], 0])
  server.emit('drop')
  expect(told).toEqual([1, 4, 1])
})
