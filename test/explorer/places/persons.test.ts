// What one person wrote is not shown to the next one who signs in, in the same tab; a link that was opened is.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, eventually, shareBrowser, signIn, signOut, waitForAgreement } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, BEN, SMALL_WORLD } from '../../support/workspaces.ts'

const OWN_QUERY = '{ me { email } } # merger plans'
const LINK = `/?${new URLSearchParams({ route: 'GET /projects' })}#${new URLSearchParams({ query: OWN_QUERY })}`

describe.skipIf(CHROMIUM === undefined)('who comes after somebody else', () => {
  const browser = shareBrowser()

  test('finds the lists of the workspace as nobody has left them', async () => {
    const page = await open(BEN, '/workspace')
    await page.getByRole('searchbox').first().fill('merger plans')
    await eventually(() => page.url()).toContain('merger')
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.locator('.operation').first().waitFor()
    await signInAs(page, ANA)
    const link = page.getByRole('link', { name: 'Workspace', exact: true })
    expect(await link.getAttribute('href')).toBe('/workspace')
    await link.click()
    await page.locator('.item').first().waitFor()
    expect(page.url()).not.toContain('merger')
  })

  test('does not run the query that was written before', async () => {
    const page = await open(BEN, '/')
    await waitForAgreement(page)
    await editorOf(page).fill(OWN_QUERY)
    await eventually(() => page.url()).toContain('merger')
    const bodies: string[] = []
    page.on('request', (request) => void bodies.push(request.postData() ?? ''))
    await signInAs(page, ANA)
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
    expect(page.url()).not.toContain('merger')
    expect(bodies.join()).toContain('projects')
    expect(bodies.join()).not.toContain('merger')
  })

  test('finds nothing of it either after the first one has signed out', async () => {
    const page = await openWhereAnaWrote()
    await signOut(page)
    await signIn(page, BEN)
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
  })

  test('finds nothing of it either after a reload', async () => {
    const page = await openWhereAnaWrote()
    await page.reload()
    await signIn(page, BEN)
    await waitForAgreement(page)
    expect(await editorOf(page).inputValue()).not.toContain('merger')
    expect(page.url()).not.toContain('merger')
  })

  test('is the same person after a reload: what was written is there', async () => {
    const page = await openWhereAnaWrote()
    await page.reload()
    await signIn(page, ANA)
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test('sees the link that was opened where the first one was', async () => {
    const page = await open(null, '/')
    await signIn(page, ANA)
    await waitForAgreement(page)
    const { href } = new URL(LINK, page.url())
    // An address of the same page would be gone to without loading it.
    await page.goto('about:blank')
    await page.goto(href)
    await signIn(page, BEN)
    await page.locator('.account .email', { hasText: BEN }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test('is the same person again: what was written is there', async () => {
    const page = await openWhereAnaWrote()
    await page.route('**/token', (route) => route.fulfill({ status: 401, body: '{}' }))
    await page.route('**/graphql', (route) => route.fulfill({ status: 401, body: '{}' }), { times: 1 })
    await page.getByRole('button', { name: 'Run both' }).click()
    await page.getByText('Your session has ended: sign in again.').waitFor()
    await signIn(page, ANA)
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test.each([BEN, null])('sees the link that was opened before anybody chose who to be (%s)', async (demoEmail) => {
    const page = await open(demoEmail, LINK)
    if (demoEmail === null) await signIn(page, ANA)
    else {
      await page.locator('.verdict').waitFor()
      await editorOf(page).fill('{ me { id } } # of the demo')
      await eventually(() => page.url()).toContain('demo')
      await signInAs(page, ANA)
    }
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    expect(await editorOf(page).inputValue()).toBe(OWN_QUERY)
  })

  test('finds the name of no project in the title of the window, as it is signed out either', async () => {
    const page = await open(null, '/workspace?show=projects&open=site')
    await signIn(page, ANA)
    await eventually(() => page.title()).toBe('Site · Workspace Gateway')
    await signOut(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await eventually(() => page.title()).toBe('Workspace · Workspace Gateway')
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
    await eventually(() => page.url()).toContain('merger')
    return page
  }
})

/** From the menu of who is signed in already. */
async function signInAs(page: Page, email: string): Promise<void> {
  await page.locator('.account > button').click()
  await page.getByText('Sign in as somebody else').click()
  await page.locator('.account input[type=email]').fill(email)
  await page.locator('.account').getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.account .email', { hasText: email }).waitFor()
}

function editorOf(page: Page) {
  return page.getByRole('textbox', { name: /GraphQL query/ })
}
