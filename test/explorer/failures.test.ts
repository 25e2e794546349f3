// What the pages show when something that they need has failed: styles, code, storage, workers, or a page itself.
import { describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  eventually,
  openWithoutStorage,
  shareBrowser,
  signIn,
  signOut,
  waitForAgreement,
} from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

/** Their links, and what each says when it cannot be read. */
const PAGES = [
  ['Workspace', 'The workspace could not be read'],
  ['Reference', 'The reference could not be read'],
] as const

describe.skipIf(CHROMIUM === undefined)('what has failed', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('a page whose styles did not come says so, and has them once it is tried again', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await page.route('**/workspace-page-*.css', (route) => route.abort(), { times: 1 })
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(await page.getByRole('button', { name: 'Reload' }).isVisible()).toBe(true)
    expect(await page.locator('.item').count()).toBe(0)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.item').first().waitFor()
    expect(
      await page
        .locator('.item')
        .first()
        .evaluate((one) => getComputedStyle(one).display),
    ).toBe('grid')
    expect(await page.locator('link[rel=stylesheet][href*=workspace-page]').count()).toBe(1)
  })

  test('a fault of the pages is told as one, and leaves no page blank', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.route('**/explorer.json', async (route) => {
      const answer = await route.fetch()
      const facts = (await answer.json()) as { readonly routes: readonly object[] }
      await route.fulfill({ json: { ...facts, routes: [...facts.routes, null] } })
    })
    await page.goto(`${demo.url()}/?route=GET+%2Fprojects`)
    const failure = page.getByRole('alert').filter({ hasText: 'This page has failed' })
    await failure.getByText('The fault is in these pages').waitFor()
    expect(await page.locator('body').innerText()).not.toContain('does not answer')
    // The frame stays around a page that failed.
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    expect(await failure.count()).toBe(0)
    // The palette lists every route, and is a part of the frame.
    await page.keyboard.press('Control+k')
    await failure.waitFor()
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.item').first().waitFor()
  })

  test('F18: a gateway that is gone is told in sentences on every page, with a way on, until it is back', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    // Their code is here from now on: what fails then is what they ask for.
    for (const [name] of PAGES) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).first().waitFor()
    }
    await page.getByRole('link', { name: 'REST ↔ GraphQL' }).click()
    await waitForAgreement(page)
    await page.route('**/*', (route) => route.abort())
    await page.getByRole('button', { name: 'Run both' }).click()
    await page.locator('.verdict.incomparable', { hasText: 'Neither side has any answer to compare.' }).waitFor()
    for (const side of ['.rest', '.graphql']) {
      expect(await page.locator(`${side} .answer`).innerText()).toMatch(/no answer[\s\S]*The gateway does not answer\./)
      expect(await page.locator(`${side} .answer`).innerText()).not.toMatch(/0\.0 ms|\b0 B/)
    }
    expect(await page.locator('.account .dot').getAttribute('data-up')).toBe('false')
    for (const [name, title] of PAGES) {
      await page.getByRole('link', { name, exact: true }).click()
      const failure = page.getByRole('alert').filter({ hasText: title })
      await failure.getByRole('heading', { name: title }).waitFor()
      await failure.getByText('The gateway does not answer.').waitFor()
      expect(await failure.getByRole('button', { name: 'Try again' }).isVisible()).toBe(true)
      const { x = 0 } = (await failure.getByRole('heading').boundingBox()) ?? {}
      expect(x - ((await failure.boundingBox())?.x ?? 0)).toBeGreaterThan(12)
      expect(await page.locator('body').innerText()).not.toMatch(/Failed to fetch|TypeError/)
    }
    // The last of these pages is there as soon as the gateway is.
    await page.unroute('**/*')
    await page.locator('.operation').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await eventually(() => page.locator('.account .dot').getAttribute('data-up')).toBe('true')
  })

  test('a gateway that goes away before the demo user is signed in is told in a sentence, and signs them in once it is back', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.route('**/login', (route) => route.abort())
    await page.goto(demo.url())
    const message = page.locator('.card').getByRole('alert')
    await message.getByText('The gateway does not answer.').waitFor()
    expect(await message.innerText()).not.toContain('fetch')
    await page.unroute('**/login')
    await waitForAgreement(page)
  })

  test('an answer of something else than the gateway is told as one', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.route('**/graphql', (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Proxy</h1>' }))
    await page.goto(`${demo.url()}/sessions`)
    const failure = page.getByRole('alert').filter({ hasText: 'The sessions could not be read' })
    await failure.getByText('such as a proxy').waitFor()
    expect(await failure.innerText()).not.toMatch(/Unexpected|token|does not answer/)
  })

  test('whatever else keeps the pages from starting is said', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.addInitScript(() => {
      addEventListener('unhandledrejection', (event) => event.preventDefault())
      addEventListener('error', (event) => event.preventDefault())
      Object.defineProperty(history, 'scrollRestoration', {
        set() {
          throw new Error('The history is not allowed.')
        },
      })
    })
    await page.goto(demo.url())
    await page.getByText('These pages could not be started. The history is not allowed.').waitFor()
  })

  test('a browser without channels between its tabs shows the pages, and signs in and out', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.addInitScript(() => void Reflect.deleteProperty(window, 'BroadcastChannel'))
    await page.goto(demo.url())
    await waitForAgreement(page)
    await signOut(page)
    await signIn(page, 'demo@example.com')
    await waitForAgreement(page)
  })

  test('a browser that keeps nothing shows every page all the same', async () => {
    const page = await (await openWithoutStorage(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await expect(page.evaluate(() => localStorage.length)).rejects.toThrow('SecurityError')
    await page.getByLabel('Dark theme').check()
    await page.locator('html[data-theme=dark]').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByRole('link', { name: 'GraphiQL' }).click()
    await page.locator('.graphiql-response .t-string').first().waitFor()
    await page.reload()
    await page.locator('.graphiql-response .t-string').first().waitFor()
  })
})
