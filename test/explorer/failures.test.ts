// Tests what the pages show after a failure: of styles, the gateway, storage, or a page itself.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, openWithoutStorage, shareBrowser, signIn, signOut, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

/** The link of each page, in the frame or in the account panel, and its message when its data cannot be read. */
const PAGES = [
  ['Sessions', 'The sessions could not be read'],
  ['Workspace', 'The workspace could not be read'],
  ['Reference', 'The reference could not be read'],
] as const

describe.skipIf(CHROMIUM === undefined)('after a failure', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('a page whose styles did not load says so, and has them after a retry', async () => {
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

  test('a window whose code did not load says so where it is seen, can be closed, and opens after a retry', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await page.route('**/palette-*.js', (route) => route.fulfill({ status: 404 }))
    const failure = page.getByRole('dialog', { name: 'This part could not be loaded' })
    const button = page.locator('.palette-button')
    for (const close of ['Close', 'Escape']) {
      await button.click()
      const heading = failure.getByRole('heading')
      await heading.waitFor()
      expect(await heading.evaluate((one) => one.getBoundingClientRect().bottom < innerHeight)).toBe(true)
      if (close === 'Escape') await page.keyboard.press('Escape')
      else await failure.getByRole('button', { name: 'Close' }).click()
      // A closed dialog has no role any more, while the page learns of it a task later.
      await page.locator('dialog').waitFor({ state: 'detached' })
      expect(await button.evaluate((one) => one === document.activeElement)).toBe(true)
    }
    await page.keyboard.press('Control+k')
    await failure.waitFor()
    await page.unroute('**/palette-*.js')
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('option', { name: 'Workspace' }).first().waitFor()
    expect(await failure.count()).toBe(0)
  })

  test('a fault in the pages themselves is reported as such, and leaves no page blank', async () => {
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
    // The frame stays visible around a page that failed.
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    expect(await failure.count()).toBe(0)
    // The palette belongs to the frame; it lists every route, also the broken one.
    await page.keyboard.press('Control+k')
    await failure.waitFor()
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.item').first().waitFor()
  })

  test('F18: while the gateway is gone, the pages say so in sentences and offer to retry', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    // From here on the code of both pages is loaded, so only their requests for data can fail.
    for (const [name] of PAGES) {
      await follow(page, name)
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
      await follow(page, name)
      const failure = page.getByRole('alert').filter({ hasText: title })
      await failure.getByRole('heading', { name: title }).waitFor()
      await failure.getByText('The gateway does not answer.').waitFor()
      expect(await failure.getByRole('button', { name: 'Try again' }).isVisible()).toBe(true)
      const { x = 0 } = (await failure.getByRole('heading').boundingBox()) ?? {}
      expect(x - ((await failure.boundingBox())?.x ?? 0)).toBeGreaterThan(12)
      expect(await page.locator('body').innerText()).not.toMatch(/Failed to fetch|TypeError/)
    }
    // The last of these pages recovers as soon as the gateway is back.
    await page.unroute('**/*')
    await page.locator('.operation').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await expect.poll(() => page.locator('.account .dot').getAttribute('data-up')).toBe('true')
  })

  test('if the gateway goes away before the sign-in, a sentence says so, and the sign-in follows later', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.route('**/login', (route) => route.abort())
    await page.goto(demo.url())
    const message = page.locator('.card').getByRole('alert')
    await message.getByText('The gateway does not answer.').waitFor()
    expect(await message.innerText()).not.toContain('fetch')
    await page.unroute('**/login')
    await waitForAgreement(page)
  })

  test('an answer from something other than the gateway is reported as such', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await page.route(/\/(?:graphql|openapi\.json)$/, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Proxy</h1>' }),
    )
    for (const [name, title] of PAGES) {
      await follow(page, name)
      const failure = page.getByRole('alert').filter({ hasText: title })
      await failure.getByText('such as a proxy').waitFor()
      expect(await failure.innerText(), name).not.toMatch(/Unexpected|token|does not answer/)
    }
  })

  test('a redirect of something in front of the gateway is reported as such, and the session goes on after it', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    const headers = { location: '/sign-in' }
    await page.route('**/*', (route) => route.fulfill({ status: 302, headers }))
    await page.getByRole('button', { name: 'Run both' }).click()
    const reason = /redirects elsewhere, such as to its own sign-in.*in another tab/
    await page.locator('.banner', { hasText: reason }).waitFor()
    for (const side of ['.rest', '.graphql']) {
      await page.locator(`${side} .answer`, { hasText: reason }).waitFor()
    }
    expect(await page.locator('main').innerText()).not.toContain('does not answer')
    await page.unroute('**/*')
    await page.locator('.banner').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Run both' }).click()
    await waitForAgreement(page)
  })

  test('pages that start behind such a redirect say so, and continue after it', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const headers = { location: '/sign-in' }
    await page.route('**/explorer.json', (route) => route.fulfill({ status: 302, headers }), { times: 1 })
    // The first request is the browser's own, which preloads.
    await page.route('**/explorer.json', (route) => route.abort(), { times: 1 })
    await page.goto(demo.url())
    await page.getByRole('alert').filter({ hasText: 'redirects elsewhere' }).waitFor()
    await waitForAgreement(page)
  })

  test('a document that is too large for GraphQL is no call to page through lists', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const message = 'Page with `first` and `after`.'
    await page.route('**/graphql', async (route) => {
      const isDocument = route.request().postData()?.includes('description data') === true
      const errors = [{ message, extensions: { code: 'RESPONSE_TOO_LARGE' } }]
      await (isDocument ? route.fulfill({ status: 400, json: { errors } }) : route.continue())
    })
    await page.goto(`${demo.url()}/workspace?show=projects&open=roastery-site&tab=document`)
    const failure = page.getByRole('alert').filter({ hasText: 'The document could not be read' })
    await failure.getByText('This is too large to be shown. A program can read it').waitFor()
    expect(await failure.innerText()).not.toContain('first')
  })

  test('an error in JSON that a proxy answers is reported with its status, not as a lost connection', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await page.route('**/graphql', (route) => route.fulfill({ status: 502, json: { message: 'Bad gateway' } }))
    for (const [name, title] of PAGES) {
      if (name === 'Reference') continue
      await follow(page, name)
      const failure = page.getByRole('alert').filter({ hasText: title })
      await failure.getByText('The gateway answered 502.').waitFor()
    }
    await page.unroute('**/graphql')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.item', { hasText: 'Quillmoor' }).click()
    await page.getByRole('tree').waitFor()
    await page.route('**/graphql', (route) => route.fulfill({ status: 502, json: { message: 'Bad gateway' } }))
    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.getByRole('alert').getByText('The gateway answered 502.').waitFor()
  })

  test('a browser that translates pages changes no code or data on these, and breaks none', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    const before = await page.locator('.side.rest').innerText()
    await page.evaluate(translate)
    expect(await page.locator('.side.rest').innerText()).toBe(before)
    await page.getByLabel('REST request: language').selectOption('Python')
    await page.locator('.side.rest', { hasText: 'import json' }).waitFor()
  })

  test('any other error that keeps the pages from starting is reported', async () => {
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

  test('in a browser without BroadcastChannel the pages work, and sign out and in', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.addInitScript(() => void Reflect.deleteProperty(window, 'BroadcastChannel'))
    await page.goto(demo.url())
    await waitForAgreement(page)
    await signOut(page)
    await signIn(page, 'demo@example.com')
    await waitForAgreement(page)
  })

  test('in a browser that blocks storage the first page, the themes and GraphiQL work', async () => {
    const page = await (await openWithoutStorage(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await expect(page.evaluate(() => localStorage.length)).rejects.toThrow('SecurityError')
    await page.getByLabel('Dark theme').check()
    await page.locator('html[data-theme=dark]').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByRole('link', { name: 'GraphiQL' }).click()
    await page.locator('.graphiql-response .t-string').first().waitFor()
    await page.locator('.graphiql-query-editor .CodeMirror-code').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('query Typed { me { id } }')
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.getByRole('link', { name: 'GraphiQL' }).click()
    await page.locator('.graphiql-query-editor').getByText('Typed').waitFor()
    await page.reload()
    await page.locator('.graphiql-response .t-string').first().waitFor()
  })
})

/** Does in the page what the translation of a browser does: each text goes into elements of its own, in capitals here. */
function translate(): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found: Text[] = []
  while (texts.nextNode()) if (texts.currentNode instanceof Text) found.push(texts.currentNode)
  for (const text of found) {
    if (text.parentElement?.closest('[translate=no], script, style') !== null) continue
    const translated = document.createElement('font')
    translated.textContent = text.data.toUpperCase()
    text.replaceWith(translated)
  }
}

/** Follows a link of the frame, or of the account panel. */
async function follow(page: Page, name: string): Promise<void> {
  if (name === 'Sessions') await page.locator('.account > button').click()
  await page.getByRole('link', { name, exact: true }).click()
}
