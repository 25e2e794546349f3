// Tests that a browser has one session for the demo user, however often its pages are loaded.
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn, signOut, waitForAgreement } from '../support/browser.ts'
import { startGateway, type Tokens } from '../support/gateway.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('the demo session', () => {
  const browser = shareBrowser()

  test('is resumed by a reload and by a later tab, with one request each, and replaced if it was ended elsewhere', async () => {
    const { context, url, asked, endAll } = await open()
    const first = await visit(context, url)
    await first.reload()
    await waitForDemo(first)
    await first.close()
    const second = await visit(context, url)
    expect(asked()).toEqual(['/login', '/token', '/token'])
    await expectSessions(second, url, 1)
    await second.goto('about:blank')
    const before = asked().length
    await endAll()
    await second.goto(url)
    await waitForAgreement(second)
    expect(await second.getByRole('alert').count()).toBe(0)
    expect(asked().slice(before)).toEqual(['/token', '/login'])
    await expectSessions(second, url, 1)
  })

  test('is shared by tabs that are opened at once, when none is stored and when the browser starts with a stored one', async () => {
    const { context, url, asked, listed } = await open()
    const visits = () => Promise.all([1, 2, 3].map(() => visit(context, url)))
    const tabs = await visits()
    await expect.poll(listed).toBe(1)
    for (const tab of tabs) await tab.close()
    const before = asked().length
    await visits()
    expect(asked().slice(before)).not.toContain('/login')
    expect(await listed()).toBe(1)
  })

  test('is kept, and no other one is opened, if its renewal is answered 503 or 429', async () => {
    const { context, url, asked, listed } = await open()
    const page = await visit(context, url)
    for (const [index, status] of [503, 429].entries()) {
      const json = { code: 'UNAVAILABLE', detail: `Try again shortly, after ${status}.` }
      await page.route('**/token', (route) => route.fulfill({ status, json }), { times: 1 })
      await page.goto(url)
      await page.getByRole('alert').getByText(json.detail).waitFor()
      await page.reload()
      await waitForAgreement(page)
      expect(asked().slice(1 + 2 * index), `after ${status}`).toEqual(['/token', '/token'])
      expect(await listed(), `after ${status}`).toBe(1)
    }
  })

  test('ends for the browser on sign-out, and a later sign-in as another user stores no token', async () => {
    const { context, url } = await open()
    const page = await context.newPage()
    await page.goto(url)
    await waitForAgreement(page)
    await signOut(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(() => keptTokens(page)).toEqual([])
    await signIn(page, ANA)
    await waitForAgreement(page)
    expect(await keptTokens(page)).toEqual([])
  })

  async function open(): Promise<{
    readonly context: BrowserContext
    readonly url: string
    /** The requested sign-in paths, in order. */
    readonly asked: () => readonly string[]
    readonly endAll: () => Promise<void>
    /** How many sessions the demo user has. */
    readonly listed: () => Promise<number>
  }> {
    const { url, load, login, graphql } = await startGateway({ demoEmail: BEN })
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const asked: string[] = []
    context.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (['/login', '/token'].includes(pathname)) asked.push(pathname)
    })
    async function endAll(): Promise<void> {
      const { accessToken } = await login(BEN)
      await graphql('mutation { logoutEverywhere }', { accessToken })
    }
    let observer: Tokens | null = null
    async function listed(): Promise<number> {
      observer ??= await login(BEN)
      const answer = await graphql('{ me { sessions { id } } }', { accessToken: observer.accessToken })
      // Without the one that asks.
      return answer.json().data.me.sessions.length - 1
    }
    return { context, url, asked: () => asked, endAll, listed }
  }
})

async function visit(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  // Any page has the session; this one reads nothing else.
  await page.goto(`${url}/nosuchpage`)
  await waitForDemo(page)
  return page
}

async function waitForDemo(page: Page): Promise<void> {
  await page.locator('.account .email', { hasText: BEN }).waitFor()
}

async function expectSessions(page: Page, url: string, count: number): Promise<void> {
  await page.goto(`${url}/sessions`)
  await page.locator('.sessions .badge').waitFor()
  expect(await page.locator('.sessions li').count()).toBe(count)
}

function keptTokens(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...Object.values(localStorage), ...Object.values(sessionStorage)].filter((value) => /eyJ|wgr_/.test(value)),
  )
}
