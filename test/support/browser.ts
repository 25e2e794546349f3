// A real browser on the pages, and what a person does there.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { makeDirectory, removeDirectory } from './temporary-directory.ts'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** The same engine without windows and menus: tests of the pages take two thirds of the processor time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'

export const CHROMIUM = PLACES.find((path) => existsSync(path))
const CHROMIUM_FOR_PAGES = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM
if (CHROMIUM === undefined) {
  console.warn(`skipped: the browser tests need Chromium (Debian: apt-get install chromium) at ${PLACES.join(' or ')}`)
}

/** One for all tests of a file. */
export interface SharedBrowser {
  /** A context of the test's own for the pages of an address, with nothing in its cache or storage. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<BrowserContext>
  /** Waits until the browser has done what it does for a new window: a person's is open before a page is asked for. */
  readonly rest: () => Promise<void>
}

/** Processor time of a tenth of a second in which nothing is going on. */
const RESTING_S = 0.01

/** Started before the tests of the `describe` that this is called in, ended after them. `CHROMIUM` is the one that a person has. */
export function shareBrowser(executablePath = CHROMIUM_FOR_PAGES): SharedBrowser {
  let browser: Browser | null = null
  beforeAll(async () => {
    const launched = await chromium.launch({ executablePath: executablePath ?? '', args: ARGUMENTS })
    browser = launched
    return () => launched.close()
  })
  return {
    async open(url, options = {}) {
      if (browser === null) throw new Error('the browser is not started')
      const usual = { viewport: { width: 1_280, height: 900 }, acceptDownloads: true }
      return watch(await browser.newContext({ ...usual, ...options }), url)
    },
    async rest() {
      const session = await browser?.newBrowserCDPSession()
      let [last, calm] = [0, 0]
      while (session && calm < 3) {
        const { processInfo } = await session.send('SystemInfo.getProcessInfo')
        const now = processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
        calm = now - last < RESTING_S ? calm + 1 : 0
        last = now
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      await session?.detach()
    },
  }
}

/** A browser of the test's own, whose person blocks cookies and with them every other storage. */
export async function openWithoutStorage(url: string): Promise<BrowserContext> {
  const folder = makeDirectory()
  onTestFinished(() => removeDirectory(folder))
  mkdirSync(`${folder}/Default`)
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } }
  writeFileSync(`${folder}/Default/Preferences`, JSON.stringify(preferences))
  const options = { executablePath: CHROMIUM ?? '', args: ARGUMENTS, viewport: { width: 1_280, height: 900 } }
  return watch(await chromium.launchPersistentContext(folder, options), url)
}

/** Whatever asks for anything outside the origin, or fails in the page, fails the test. */
function watch(context: BrowserContext, url: string): BrowserContext {
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
    await context.close()
    expect(faults).toEqual([])
  })
  return context
}

/** Until it is so, however busy the machine is. */
export function eventually<T>(read: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read, { timeout: 15_000 })
}

/** Waits until the two sides of the first page agree. */
export async function waitForAgreement(page: Page, text: string | RegExp = 'byte for byte'): Promise<void> {
  await page.locator('.verdict.same', { hasText: text }).waitFor({ timeout: 20_000 })
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** As somebody does who is signed in. */
export async function signOut(page: Page): Promise<void> {
  await page.locator('.account > button').click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
}
