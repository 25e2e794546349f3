// A real browser on the pages: whatever asks for anything outside the origin, or fails in the page, fails the test.
import { existsSync } from 'node:fs'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const CHROMIUM = PLACES.find((path) => existsSync(path))
if (CHROMIUM === undefined) {
  console.warn(`skipped: the browser tests need Chromium (Debian: apt-get install chromium) at ${PLACES.join(' or ')}`)
}

export interface BrowserOptions {
  readonly width?: number
  readonly colorScheme?: 'light' | 'dark'
}

/** A browser of the test's own, with nothing in its cache or storage. */
export async function openBrowser(
  url: string,
  { width = 1_280, colorScheme = 'light' }: BrowserOptions = {},
): Promise<BrowserContext> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true })
  const faults: string[] = []
  context.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin) {
      faults.push(`a request left the origin: ${request.url()}`)
    }
  })
  context.on('weberror', (error) => faults.push(`the page failed: ${error.error().message}`))
  context.on('dialog', (dialog) => {
    faults.push(`a dialog opened: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text())
  })
  onTestFinished(async () => {
    await browser.close()
    expect(faults).toEqual([])
  })
  return context
}

/** Waits until the two sides of the first page agree. */
export async function waitForAgreement(page: Page, text: string | RegExp = 'byte for byte'): Promise<void> {
  await page.locator('.verdict.same', { hasText: text }).waitFor({ timeout: 20_000 })
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
