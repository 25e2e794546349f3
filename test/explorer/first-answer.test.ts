// The way to the first answer: what the first page asks is under way before there is a page, and it is asked once.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, eventually, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

describe.skipIf(CHROMIUM === undefined)('the first answer', () => {
  const browser = shareBrowser(CHROMIUM)
  const demo = shareDemoGateway()

  test.each([
    ['/', ['GET /projects', 'POST /graphql']],
    ['/?route=GET+%2Fexports&r=river-dashboard', ['GET /exports', 'POST /graphql']],
  ])('%s asks both sides while the code of the screen is still on its way, and not again', async (path, both) => {
    const { page, asked, release } = await open()
    await page.goto(demo.url() + path, { waitUntil: 'commit' })
    // Both at once: either may come first.
    await eventually(() => asked().slice(0, 1)).toEqual(['POST /login'])
    await eventually(() => asked().slice(1).toSorted()).toEqual(both)
    release()
    await waitForAgreement(page)
    // A list of projects to choose from, where there is something to choose.
    expect(asked().filter((call) => call !== 'POST /graphql')).toEqual(['POST /login', both[0]])
    expect(asked()).toHaveLength(path === '/' ? 3 : 4)
  })

  test('nothing is asked for a person who has to decide first, or who opens another page', async () => {
    const { page, asked, release } = await open()
    let signIn = 'POST /login'
    for (const path of [
      '/?route=POST+%2Flogin',
      `/?${new URLSearchParams({ route: 'GET /projects', query: 'mutation { refresh(refreshToken: "x") { accessToken } }' })}`,
      '/nosuchpage',
    ]) {
      await page.goto(demo.url() + path, { waitUntil: 'commit' })
      await eventually(asked).toEqual([signIn])
      release()
      await page.locator('main h1, main h2').first().waitFor()
      expect(asked(), path).toEqual([signIn])
      asked().length = 0
      // The session is taken up.
      signIn = 'POST /token'
    }
  })

  test('a run of the person’s own is sent anew', async () => {
    const { page, asked, release } = await open()
    release()
    await page.goto(demo.url())
    await waitForAgreement(page)
    asked().length = 0
    await page.getByRole('button', { name: 'Run both' }).click()
    await eventually(() => asked().toSorted()).toEqual(['GET /projects', 'POST /graphql'])
    await waitForAgreement(page)
  })

  /** React comes once it is released; what is asked of the API is noted in order. */
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
