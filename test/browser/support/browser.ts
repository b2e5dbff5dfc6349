/** A real browser from the registry: playwright-core drives the Chromium that @sparticuz/chromium brings along. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Stage } from '../../e2e/harness/stage.js'

export type Opened = { readonly browser: Browser } | { readonly why: string }

/** The browser, or why there is none on this machine. */
export async function openBrowser(): Promise<Opened> {
  try {
    const { chromium } = await import('playwright-core')
    const { default: brought } = await import('@sparticuz/chromium')
    const executablePath = await brought.executablePath()
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
    return { browser }
  } catch (error) {
    return { why: String(error).split('\n')[0] ?? '' }
  }
}

/** What a page must not do. */
export interface Watched {
  readonly page: Page
  /** Errors of the console, exceptions and breaches of the content security policy. */
  readonly errors: string[]
  /** Requests to anything but the admin port. */
  readonly foreign: string[]
}

export async function watched(
  stage: Stage,
  browser: Browser,
  adminPort: number,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  stage.later(() => context.close())
  const page = await context.newPage()
  const [errors, foreign]: [string[], string[]] = [[], []]
  page.on('console', message => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', error => errors.push(error.message))
  page.on('request', request => {
    if (new URL(request.url()).host !== `127.0.0.1:${adminPort}`) foreign.push(request.url())
  })
  page.setDefaultTimeout(20_000)
  await page.goto(`http://127.0.0.1:${adminPort}/`)
  return { page, errors, foreign }
}
