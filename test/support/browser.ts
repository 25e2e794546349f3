// Opens the pages in a real Chromium and does there what a person would do.
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
  // No renderer is kept ready for a next page, which would take a tenth of the processor time of each. Pages of one context share theirs.
  '--renderer-process-limit=1',
]
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** The same engine without windows and menus: with it the tests of the pages need two thirds of the processor time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'

export const CHROMIUM = PLACES.find((path) => existsSync(path))
export const CHROMIUM_FOR_PAGES = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM
if (CHROMIUM === undefined) {
  console.warn(`skipped: the browser tests need Chromium (Debian: apt-get install chromium) at ${PLACES.join(' or ')}`)
}

/** A browser for all tests of a file. */
export interface SharedBrowser {
  /** Opens a new context for one test, with an empty cache and storage. Requests may only go to the origin of `url`. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<BrowserContext>
  /**
   * Waits until the browser has finished its work for a new window: a person's window is open before a page is asked
   * for.
   */
  readonly rest: () => Promise<void>
}

/** A tenth of a second with less processor time than this counts as idle. */
const RESTING_S = 0.01

/** Serves the pages of all files of this process, and ends with it: each start takes half a second of processor time. */
let kept: Browser | null = null

/**
 * Provides the browser to the tests of the surrounding `describe`. `CHROMIUM` is the one that people have; it is started
 * for these tests only.
 */
export function shareBrowser(executablePath = CHROMIUM_FOR_PAGES): SharedBrowser {
  let browser: Browser | null = null
  beforeAll(async () => {
    if (executablePath === CHROMIUM_FOR_PAGES && kept?.isConnected()) {
      browser = kept
      return undefined
    }
    const launched = await chromium.launch({ executablePath: executablePath ?? '', args: ARGUMENTS })
    browser = launched
    if (executablePath !== CHROMIUM_FOR_PAGES) return () => launched.close()
    kept = launched
    return undefined
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

/** Opens a browser whose user blocks cookies, and with them every other storage. */
export async function openWithoutStorage(url: string): Promise<BrowserContext> {
  const folder = makeDirectory()
  onTestFinished(() => removeDirectory(folder))
  mkdirSync(`${folder}/Default`)
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } }
  writeFileSync(`${folder}/Default/Preferences`, JSON.stringify(preferences))
  const options = { executablePath: CHROMIUM ?? '', args: ARGUMENTS, viewport: { width: 1_280, height: 900 } }
  return watch(await chromium.launchPersistentContext(folder, options), url)
}

/** Fails the test when the page requests anything outside the origin, throws, opens a dialog or violates the policy. */
function watch(context: BrowserContext, url: string): BrowserContext {
  // Playwright's own 30 seconds pass on a busy machine.
  context.setDefaultTimeout(120_000)
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

/** Waits until the first page reports that its two sides agree. */
export async function waitForAgreement(page: Page, text: string | RegExp = 'byte for byte'): Promise<void> {
  await page.locator('.verdict.same', { hasText: text }).waitFor()
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Signs out by way of the account menu. */
export async function signOut(page: Page): Promise<void> {
  await page.locator('.account > button').click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
}

/** Signs in from the menu of the user who is signed in. */
export async function signInAs(page: Page, email: string): Promise<void> {
  await page.locator('.account > button').click()
  await page.getByText('Sign in as somebody else').click()
  await signInHere(page, email)
  await page.locator('.account .email', { hasText: email }).waitFor()
}

/** Fills in the only form that is visible. */
export async function signInHere(page: Page, email: string): Promise<void> {
  const form = page.locator('form').filter({ visible: true })
  await form.locator('input[type=email]').fill(email)
  await form.getByRole('button', { name: 'Sign in' }).click()
}
