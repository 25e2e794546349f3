// Tests that the next user in a tab does not see what the previous one wrote, but does see a link that was opened.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn, signInAs, signOut, waitForAgreement } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, BEN, SMALL_WORLD } from '../../support/workspaces.ts'

const OWN_QUERY = '{ me { email } } # merger plans'
const LINK = `/?${new URLSearchParams({ route: 'GET /projects' })}#${new URLSearchParams({ query: OWN_QUERY })}`

describe.skipIf(CHROMIUM === undefined)('after a sign-in in the same tab', () => {
  const browser = shareBrowser()

  test('another user finds the lists of the workspace in their initial state', async () => {
    const page = await open(BEN, '/workspace')
    await page.getByRole('searchbox').first().fill('merger plans')
    await expect.poll(() => page.url()).toContain('merger')
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.locator('.operation').first().waitFor()
    await signInAs(page, ANA)
    const link = page.getByRole('link', { name: 'Workspace', exact: true })
    expect(await link.getAttribute('href')).toBe('/workspace')
    await link.click()
    await page.locator('.item').first().waitFor()
    expect(page.url()).not.toContain('merger')
  })

  test("the previous user's query is not run for another user, nor shown by back, and is there again for its user", async () => {
    const page = await open(BEN, '/')
    await waitForAgreement(page)
    await editorOf(page).fill(OWN_QUERY)
    await expect.poll(() => page.url()).toContain('merger')
    const bodies: string[] = []
    page.on('request', (request) => void bodies.push(request.postData() ?? ''))
    await signInAs(page, ANA)
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
    expect(page.url()).not.toContain('merger')
    expect(bodies.join()).toContain('projects')
    expect(bodies.join()).not.toContain('merger')
    await signInAs(page, BEN)
    await expect.poll(() => editorOf(page).inputValue()).toBe(OWN_QUERY)
    expect(page.url()).toContain('merger')
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.locator('.operation').first().waitFor()
    bodies.length = 0
    await signInAs(page, ANA)
    await page.goBack()
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
    expect(page.url()).not.toContain('merger')
    expect(bodies.join()).not.toContain('merger')
  })

  test("another user does not see the previous user's query after that user signed out", async () => {
    const page = await openWhereAnaWrote()
    await signOut(page)
    await signIn(page, BEN)
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
  })

  test("another user does not see the previous user's query after a reload", async () => {
    const page = await openWhereAnaWrote()
    await page.reload()
    await signIn(page, BEN)
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
    expect(page.url()).not.toContain('merger')
  })

  test('the same user sees their own query again after a reload', async () => {
    const page = await openWhereAnaWrote()
    await page.reload()
    await signIn(page, ANA)
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test("another user sees a link that is opened in the previous user's tab", async () => {
    const page = await open(null, '/')
    await signIn(page, ANA)
    await waitForAgreement(page)
    const { href } = new URL(LINK, page.url())
    // The browser would not load the page anew for an address of the same page.
    await page.goto('about:blank')
    await page.goto(href)
    await signIn(page, BEN)
    await page.locator('.account .email', { hasText: BEN }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test('the same user sees their own query again after their session ended', async () => {
    const page = await openWhereAnaWrote()
    const ended = { status: 401, json: { code: 'INVALID_TOKEN' } }
    await page.route('**/token', (route) => route.fulfill(ended))
    await page.route('**/graphql', (route) => route.fulfill(ended), { times: 1 })
    await page.getByRole('button', { name: 'Run both' }).click()
    await page.getByText('Your session has ended: sign in again.').waitFor()
    await signIn(page, ANA)
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test.each([BEN, null])('a link opened before the first sign-in is shown after it (demo: %s)', async (demoEmail) => {
    const page = await open(demoEmail, LINK)
    if (demoEmail === null) await signIn(page, ANA)
    else {
      await page.locator('.verdict').waitFor()
      await editorOf(page).fill('{ me { id } } # of the demo')
      await expect.poll(() => page.url()).toContain('demo')
      await signInAs(page, ANA)
    }
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test("neither the sign-in page nor another user has a project's name in the window title", async () => {
    const page = await open(null, '/workspace?show=projects&open=site')
    await signIn(page, ANA)
    await expect.poll(() => page.title()).toBe('Site · Workspace Gateway')
    await signOut(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(() => page.title()).toBe('Workspace · Workspace Gateway')
    await signIn(page, 'nobody@example.com')
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.title()).toBe('Workspace · Workspace Gateway')
  })

  async function open(demoEmail: string | null, path: string): Promise<Page> {
    const { url, load } = await startGateway({ demoEmail })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + path)
    return page
  }

  async function openWhereAnaWrote(): Promise<Page> {
    const page = await open(null, '/')
    await signIn(page, ANA)
    await waitForAgreement(page)
    await editorOf(page).fill(OWN_QUERY)
    await expect.poll(() => page.url()).toContain('merger')
    return page
  }
})

function editorOf(page: Page) {
  return page.getByRole('textbox', { name: /GraphQL query/ })
}
