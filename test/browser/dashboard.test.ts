import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect } from 'vitest'
import { call } from '../e2e/harness/client.js'
import { toYaml, upstreamDoc } from '../e2e/harness/policies.js'
import { test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'
import { openBrowser, watched } from './support/browser.js'
import { incident } from './support/incident.js'

const opened = await openBrowser()
const browser = 'browser' in opened ? opened.browser : null
if ('why' in opened)
  console.warn(`skipped: the dashboard in a browser, since Chromium does not run here: ${opened.why}`)
afterAll(() => browser?.close())

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const headline = (page: Page, text: string) => page.locator('h1', { hasText: text }).waitFor()
const card = (page: Page, name: string) => page.locator(`article[data-name="${name}"]`)
const says = (page: Page, where: string, text: string | RegExp) =>
  page.locator(where).filter({ hasText: text }).first().waitFor()

/** What axe finds, and is serious or worse. */
async function grave(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[]
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

const picture = async (page: Page, name: string) => {
  const dir = process.env['FORBEAR_TEST_PICTURES']
  if (dir !== undefined) await page.screenshot({ path: `${dir}/${name}.png`, fullPage: true })
}

describe.skipIf(browser === null)('the dashboard in a browser', { timeout: 60_000 }, () => {
  if (browser === null) return

  test('shows the opening of a breaker, the budget line and the recovery while they happen', async ({ stage }) => {
    const { sidecar, failing } = await incident(stage)
    const { page, errors, foreign } = await watched(stage, browser, sidecar.adminPort)
    await headline(page, 'All is well')
    await says(page, '#live', 'live')
    const payments = card(page, 'payments')
    await payments.locator('summary').first().focus()
    await page.keyboard.press('Enter')
    // Nothing is moved while the focus is in the list.
    await page.locator('#upstreams').focus()

    failing(0.4)
    await says(page, '#reasons', 'retries limited by budget')
    await says(page, '#events', 'no retry: budget-exhausted')
    await payments.locator('[role=img][aria-label*="budget now"]').waitFor()
    await payments.locator('canvas').nth(3).waitFor()

    failing(1)
    await headline(page, 'payments is sick')
    await says(page, '#reasons', /payments: breaker open after \d+ failures in a row, .*probe in \d+ s/)
    await says(page, '#events', 'breaker opened: consecutive-failures')
    await says(page, '#announcer', /payments: (breaker open|probing)/)
    expect(await page.title()).toBe('payments is sick · forbear')
    await page.locator('#list > li:first-child article[data-name=payments]').waitFor()
    await payments.locator('[role=img][aria-label*="The breaker was open for"]').first().waitFor()
    await picture(page, 'sick')

    failing(0)
    await says(page, '#events', 'breaker closed: probe-succeeded')
    await headline(page, 'All is well')
    await picture(page, 'recovered')
    expect([errors, foreign]).toEqual([[], []])
  })

  test('draws its plots where the language of the browser is no tag that scripts know', async ({ stage }) => {
    const { sidecar } = await incident(stage)
    const { page, errors } = await watched(stage, browser, sidecar.adminPort)
    // What Chromium tells under LC_ALL=C.
    await page.evaluate("Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })")
    await card(page, 'payments').locator('summary').first().click()
    await card(page, 'payments').locator('canvas').nth(3).waitFor()
    expect(errors).toEqual([])
  })

  test('does by keyboard what its buttons say', async ({ stage }) => {
    const { sidecar } = await incident(stage)
    const { page, errors } = await watched(stage, browser, sidecar.adminPort)
    await says(page, '#live', 'live')
    const payments = card(page, 'payments')
    const press = async (name: string) => {
      await payments.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    const held = async () => (await sidecar.upstreamStatus('payments')).breaker
    await page.getByRole('button', { name: 'Retries off' }).focus()
    await page.keyboard.press('Enter')
    await headline(page, 'Calls are well, but retries are switched off')
    await page.getByRole('button', { name: 'Retries on again' }).focus()
    await page.keyboard.press('Enter')
    await headline(page, 'All is well')
    expect((await sidecar.status()).retries).toBe('on')

    await payments.locator('summary').first().focus()
    await page.keyboard.press('Space')
    await press('Hold open')
    await headline(page, 'payments is sick')
    expect(await held()).toMatchObject({ state: 'open', held: 'open' })
    await payments.locator('button[aria-pressed=true]', { hasText: 'Hold open' }).waitFor()
    await press('Hold closed')
    await until('it is held closed', async () => (await held()).state === 'closed')
    await press('Auto')
    await payments.locator('button[aria-pressed=true]', { hasText: 'Auto' }).waitFor()
    await press('Reset budget')
    await says(page, '#toast', 'Done: Reset budget')

    await page.locator('#drain summary').focus()
    await page.keyboard.press('Enter')
    expect(await sidecar.health('/readyz')).toBe(200)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await until('readiness is red', async () => (await sidecar.health('/readyz')) === 503)
    expect(errors).toEqual([])
  })

  test('is readable and operable for everybody, light and dark, on a desk and on a phone', async ({ stage }) => {
    const { sidecar, failing } = await incident(stage)
    failing(1)
    await until('the breaker opens', async () => (await sidecar.upstreamStatus('payments')).breaker.state === 'open')
    const { page, errors, foreign } = await watched(stage, browser, sidecar.adminPort)
    await says(page, '#live', 'live')
    await card(page, 'payments').locator('summary').first().click()
    await card(page, 'payments').locator('canvas').nth(3).waitFor()
    await page.getByText('Effective policy', { exact: true }).first().click()
    await says(page, '.policy-in-force td', /./)
    expect([errors, foreign]).toEqual([[], []])
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1240, 360]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect([colorScheme, width, overflow]).toEqual([colorScheme, width, 0])
        await picture(page, `${colorScheme}-${width}`)
        expect([colorScheme, width, await grave(page)]).toEqual([colorScheme, width, []])
      }
    }
  })

  test('is complete without a script', async ({ stage }) => {
    const { sidecar } = await incident(stage)
    const { page } = await watched(stage, browser, sidecar.adminPort, { javaScriptEnabled: false })
    await says(page, 'h1', 'All is well')
    await says(page, '#live', 'reload for newer figures')
    expect(await card(page, 'ledger').locator('[data-f=breaker]').textContent()).toBe('closed')
    await card(page, 'payments').locator('summary').first().click()
    await card(page, 'payments').getByRole('button', { name: 'Hold open' }).click()
    await until('it is held open', async () => (await sidecar.upstreamStatus('payments')).breaker.state === 'open')
  })

  test('shows two hundred upstreams, the sickest first, and finds one of them', async ({ stage }) => {
    const well = await stage.upstream()
    const names = Array.from({ length: 200 }, (_, n) => `service-${String(n).padStart(3, '0')}`)
    const documents = names.map((name, n) => upstreamDoc(name, `${well.url}/${n}`))
    const policies = await stage.policyDir({ 'a.yaml': toYaml(...documents) })
    const sidecar = await stage.sidecar(policies, ['--access-log', 'off'])
    await call(sidecar.adminPort, '/upstreams/service-150/breaker?set=open', { method: 'POST' })
    const { page, errors } = await watched(stage, browser, sidecar.adminPort)
    await headline(page, 'service-150 is sick')
    await says(page, '#live', 'live')
    expect(await page.locator('#list article').first().getAttribute('data-name')).toBe('service-150')
    await policies.write('a.yaml', toYaml(...names.map(name => upstreamDoc(name, 'nowhere'))))
    await page
      .locator('#messages code', { hasText: /a\.yaml:\d+:\d+ {2}spec\.target/ })
      .first()
      .waitFor()
    // However many messages there are, the upstreams stay in sight.
    const top = await page.evaluate<number>("document.getElementById('list').getBoundingClientRect().top")
    expect(top).toBeLessThan(720)
    await page.getByLabel('Filter').fill('service-07')
    await says(page, '#count', '10 of 200')
    expect(await page.locator('#list > li:visible').count()).toBe(10)
    expect(errors).toEqual([])
  })
})
