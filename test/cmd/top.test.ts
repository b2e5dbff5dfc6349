import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, describe, expect } from 'vitest'
import { COMMAND, forbear } from '../docs/shell.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { freePort } from '../e2e/harness/ports.js'
import { Sidecar } from '../e2e/harness/sidecar.js'
import { test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'
import { sickSidecar } from './support/sick-sidecar.js'

const sick = onOneStage(sickSidecar)

interface Piped {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  text: string
}

const running: Piped[] = []
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL')
})

function top(...args: readonly string[]): Piped {
  const child = spawn(process.execPath, [COMMAND, 'top', '--interval', '300ms', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>(resolve => child.once('close', resolve))
  const piped: Piped = { child, exited, text: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (piped.text += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (piped.text += text))
  running.push(piped)
  return piped
}

const HEAD =
  /^UPSTREAM +BREAKER +RPS +OK +RETRY\/BUDGET +AMPL +P50 +P95 +P99 +GATE +PACE +IN-FLIGHT +WAIT +LAST REASON$/
const blocks = (text: string): string[][] => text.split('\n\n').map(block => block.split('\n'))
const whole = (text: string): string[][] => blocks(text).slice(0, -1)

describe('forbear top in a pipe', () => {
  test('writes one block an interval, with the same columns and no escape code', async () => {
    const piped = top('--admin', sick.admin)
    await until('the breaker is seen open', () => /^stock +open \d+s/m.test(piped.text))
    await until('three blocks', () => whole(piped.text).length >= 3)
    piped.child.kill('SIGTERM')
    expect(await piped.exited).toBe(0)
    expect(piped.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/)
    const starts = whole(piped.text).map(([, head = '']) => {
      expect(head).toMatch(HEAD)
      return head.indexOf('RPS')
    })
    expect(new Set(starts).size).toBe(1)
    for (const block of whole(piped.text)) {
      expect(block.map(line => line.split(' ')[0]).slice(2)).toEqual(['ledger', 'payments', 'stock'])
    }
  })

  test('says which upstream is sick and why, as text and as JSON', async () => {
    const text = top('--admin', sick.admin)
    const json = top('--admin', sick.admin, '--output', 'json')
    const verdict = /generation 1 {2}2 of 3 upstreams in trouble: .*stock: breaker (open, \d+s left|half-open)/
    await until('the verdict', () => verdict.test(text.text))
    await until('the one that is well', () => /^ledger +closed .* 100% +0%\/20% +[\d.]+ .* -$/m.test(text.text))
    const last = await until('budget spent', () => {
      const scenes = json.text
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
      return scenes.find(
        ({ upstreams: [ledger, payments, stock] }) =>
          ledger.success === 1 && payments.budgetSpent && payments.success < 1 && stock.breaker.state === 'open',
      )
    })
    const [ledger, payments, stock] = last.upstreams
    expect(ledger).toMatchObject({ upstream: 'ledger', success: 1, retryShare: 0, reason: null })
    expect(payments.amplification).toBeGreaterThan(0)
    expect(payments.routes).toMatchObject([{ route: 'orders' }])
    expect(stock.success === null || stock.success < 1).toBe(true)
    expect(last).toMatchObject({ error: null, generation: 1, lastReloadError: null })
  })

  test('gives one block with --once, then ends', async () => {
    const piped = top('--admin', sick.admin, '--once')
    expect(await piped.exited).toBe(0)
    expect(whole(piped.text)).toHaveLength(1)
    expect(piped.text).toMatch(/^ledger +closed +\d/m)
  })

  test('tells of policies that were refused', async ({ stage }) => {
    const policies = await stage.policyDir({
      'a.yaml':
        'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: a }\nspec: { target: http://127.0.0.1:9 }\n',
    })
    const sidecar = await stage.sidecar({ path: policies.path })
    await policies.write('a.yaml', 'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\n')
    await sidecar.admin('/reload', { method: 'POST' })
    const piped = top('--admin', `127.0.0.1:${sidecar.adminPort}`, '--once')
    expect(await piped.exited).toBe(0)
    expect(piped.text).toMatch(/^reload failed at \S+, generation 1 stays: .*a\.yaml/m)
  })

  test('goes on trying while the sidecar restarts, and begins anew with the new one', async ({ stage }) => {
    const admin = await freePort()
    const policies = await stage.policyDir({
      'a.yaml':
        'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: a }\nspec: { target: http://127.0.0.1:9 }\n',
    })
    const begin = () => stage.sidecar({ path: policies.path }, ['--admin', `127.0.0.1:${admin}`])
    const piped = top('--admin', `127.0.0.1:${admin}`)
    await until('it says that nobody answers', () => /no sidecar answers on \S+ \(ECONNREFUSED\)/.test(piped.text))
    const first: Sidecar = await begin()
    await until('a block', () => /^a +closed/m.test(piped.text))
    await first.kill()
    const length = piped.text.length
    await until('it says that it is gone', () => piped.text.slice(length).includes('no sidecar answers'))
    await begin()
    await until('it sees the restart', () => piped.text.includes('the sidecar has restarted; '))
    await until('rates', () => /^a +closed +0 /m.test(piped.text.slice(piped.text.lastIndexOf('restarted'))))
    piped.child.kill('SIGINT')
    expect(await piped.exited).toBe(0)
  })

  test('ends when its reader has seen enough', async () => {
    const piped = top('--admin', sick.admin)
    await until('a block', () => whole(piped.text).length > 0)
    piped.child.stdout?.destroy()
    expect(await piped.exited).toBe(0)
  })
})

describe('forbear top without a sidecar', () => {
  test('exits with 1 after --once, and says who does not answer', async () => {
    const admin = `127.0.0.1:${await freePort()}`
    const { code, output } = forbear('top', '--admin', admin, '--once')
    expect(code).toBe(1)
    expect(output).toContain(`no sidecar answers on ${admin} (ECONNREFUSED)`)
    expect(forbear('top', '--admin', admin, '--once', '--output', 'json').output).toMatch(/"error":"no sidecar/)
  })

  test('on a port of something else says that it is none', async ({ stage }) => {
    const upstream = await stage.upstream()
    const piped = top('--admin', `127.0.0.1:${upstream.port}`, '--once')
    expect(await piped.exited).toBe(1)
    expect(piped.text).toContain('is no sidecar')
  })

  test.each([
    ['--interval', '1ms', 'from 100ms to 1h'],
    ['--interval', 'soon', 'such as 25s'],
    ['--admin', 'http://127.0.0.1:15081', 'host and port'],
    ['--output', 'xml', 'text, json'],
  ])('refuses %s %s', (name, value, words) => {
    const { code, output } = forbear('top', name, value, '--once')
    expect(code).toBe(2)
    expect(output).toContain(words)
  })
})
