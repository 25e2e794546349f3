// Tests the way to the first answer: the first page sends its requests before its code is loaded, and only once.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

describe.skipIf(CHROMIUM === undefined)('the first answer', () => {
  const browser = shareBrowser(CHROMIUM)
  const demo = shareDemoGateway()

  test.each([
    ['/', ['GET /projects', 'POST /graphql']],
    ['/?route=GET+%2Fexports&r=river-dashboard', ['GET /exports', 'POST /graphql']],
  ])('%s requests both sides while the code of the page is still loading, and only once', async (path, both) => {
    const { page, asked, release } = await open()
    await page.goto(demo.url() + path, { waitUntil: 'commit' })
    // Both are sent at once, so either may be first.
    await expect.poll(() => asked().slice(0, 1)).toEqual(['POST /login'])
    await expect.poll(() => asked().slice(1).toSorted()).toEqual(both)
    release()
    await waitForAgreement(page)
    // A page with a reference field also requests the list of projects to choose from.
    expect(asked().filter((call) => call !== 'POST /graphql')).toEqual(['POST /login', both[0]])
    expect(asked()).toHaveLength(path === '/' ? 3 : 4)
  })

  test('only the sign-in is requested if the user must decide first, or on another page', async () => {
    const { page, asked, release } = await open()
    let signIn = 'POST /login'
    for (const path of [
      '/?route=POST+%2Flogin',
      `/?${new URLSearchParams({ route: 'GET /projects', query: 'mutation { refresh(refreshToken: "x") { accessToken } }' })}`,
      '/nosuchpage',
    ]) {
      await page.goto(demo.url() + path, { waitUntil: 'commit' })
      await expect.poll(asked).toEqual([signIn])
      release()
      await page.locator('main h1, main h2').first().waitFor()
      expect(asked(), path).toEqual([signIn])
      asked().length = 0
      // From the second page on, the session is resumed.
      signIn = 'POST /token'
    }
  })

  test('a run that the user starts sends both requests again', async () => {
    const { page, asked, release } = await open()
    release()
    await page.goto(demo.url())
    await waitForAgreement(page)
    asked().length = 0
    await page.getByRole('button', { name: 'Run both' }).click()
    await expect.poll(() => asked().toSorted()).toEqual(['GET /projects', 'POST /graphql'])
    await waitForAgreement(page)
  })

  /** Holds back the code of the page until `release`, and records the requests to the API in order. */
  async function open(): Promise<{
    readonly page: Page
    readonly asked: () => string[]
    readonly release: () => void
  }> {
    const page = await (await browser.open(demo.url())).newPage()
    const calls: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch' && !request.url().endsWith('explorer.json')) {
        calls.push(`${request.method()} ${new URL(request.url()).pathname}`)
      }
    })
    await page.route(/\/assets\/client-/, async (route) => {
      await promise
      await route.continue()
    })
    return { page, asked: () => calls, release: resolve }
  }
})
