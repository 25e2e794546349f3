// Tests the notices of the pages: they are read out, stay under the pointer, and disappear by themselves.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { overflow, violations } from '../support/axe.ts'
import { CHROMIUM, shareBrowser, signIn, signOut, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('a notice', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('says what was copied and downloaded, and that the browser refused to copy', async () => {
    const page = await openDemo()
    const answer = page.locator('.side.rest .answer')
    await answer.getByRole('button', { name: 'Copy all' }).click()
    await notice(page, /^Copied, [\d,]+ characters\.$/).waitFor()
    await page.getByRole('button', { name: 'Copy link' }).click()
    await notice(page, 'Link copied. It holds no token.').waitFor()
    const downloading = page.waitForEvent('download')
    await answer.getByRole('button', { name: 'Download' }).click()
    await notice(page, `Download started: ${(await downloading).suggestedFilename()}`).waitFor()
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
      document.execCommand = () => false
    })
    await answer.getByRole('button', { name: 'Copy all' }).click()
    await notice(page, 'The browser did not let this page copy.').waitFor()
    expect(await page.locator('.toast').count()).toBe(3)
    expect([...(await violations(page)), ...(await overflow(page))]).toEqual([])
  })

  test('is read out, takes no focus, stays under the pointer, and goes by itself or on dismissal', async () => {
    const page = await openDemo()
    // The element that is read out is not the visible one: it existed before, and it contains no button.
    const spoken = page.locator('.toasts + [role=status]')
    await spoken.evaluate((one) => Reflect.set(window, 'spoken', one))
    const region = page.getByRole('region', { name: 'Notices' })
    await page.clock.install()
    const button = page.getByRole('button', { name: 'Copy link' })
    await button.focus()
    await page.keyboard.press('Enter')
    const link = notice(region, 'Link copied. It holds no token.')
    await link.waitFor()
    expect(await spoken.evaluate((one) => [one.textContent, one === Reflect.get(window, 'spoken')])).toEqual([
      'Link copied. It holds no token.',
      true,
    ])
    expect(await button.evaluate((one) => one === document.activeElement)).toBe(true)
    await link.hover()
    await page.clock.runFor(60_000)
    expect(await link.isVisible()).toBe(true)
    await page.mouse.move(5, 5)
    await page.clock.runFor(3_000)
    expect(await link.isVisible()).toBe(true)
    // A repeated notice starts its time anew and is still shown once.
    await page.keyboard.press('Enter')
    await page.clock.runFor(3_000)
    expect(await region.locator('.toast').count()).toBe(1)
    await page.clock.runFor(2_000)
    await expect.poll(() => region.locator('.toast').count()).toBe(0)
    await page.keyboard.press('Enter')
    await region.getByRole('button', { name: 'Dismiss this notice' }).click()
    expect(await region.locator('.toast').count()).toBe(0)
    expect(await spoken.innerText()).toBe('')
  })

  test('stays while the focus is on its button, also while another window has the focus', async () => {
    const page = await openDemo()
    await page.clock.install()
    const copy = page.getByRole('button', { name: 'Copy link' })
    await copy.press('Enter')
    const dismiss = page.getByRole('button', { name: 'Dismiss this notice' })
    await dismiss.focus()
    await page.clock.runFor(60_000)
    expect(await dismiss.evaluate((button) => button === document.activeElement)).toBe(true)
    await copy.focus()
    await page.clock.runFor(5_000)
    await expect.poll(() => dismiss.count()).toBe(0)

    await copy.press('Enter')
    await dismiss.focus()
    // Playwright lets every page believe that it has the focus. A browser sends this event, and the button stays the
    // active element of the page.
    await dismiss.dispatchEvent('focusout')
    await page.clock.runFor(60_000)
    expect(await dismiss.evaluate((button) => button === document.activeElement)).toBe(true)
  })

  test('says which session was ended, and on the reference, which needs no sign-in, that the user is signed out', async () => {
    const { url, load, login } = await startGateway()
    await load(SMALL_WORLD)
    await login(ANA)
    const context = await browser.open(url)
    const [page, other] = [await context.newPage(), await context.newPage()]
    await page.goto(url)
    await signIn(page, ANA)
    await waitForAgreement(page)
    await page.getByRole('link', { name: 'Reference' }).click()
    await page.locator('.operation').first().waitFor()
    await other.goto(`${url}/sessions`)
    await other.getByRole('button', { name: /^End the session of/ }).click()
    await notice(other, /^The session of .+ has ended\.$/).waitFor()
    await other.getByRole('button', { name: 'Dismiss this notice' }).click()
    await signOut(other)
    await notice(page, 'You signed out in another tab.').waitFor()
    // No notice appears where the sign-in form says it.
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await other.locator('.toast').count()).toBe(0)
    await page.bringToFront()
    await page.locator('#getProjects').getByText('Sign in to try it here').click()
    const form = page.locator('form').filter({ visible: true })
    await form.locator('input[type=email]').fill(ANA)
    await form.getByRole('button', { name: 'Sign in' }).click()
    await page.route('**/logout', (route) => route.abort())
    await signOut(page)
    await notice(page, 'You are signed out.').waitFor()
    // A failure looks like one.
    await page.locator('.toast[data-kind=failed]', { hasText: 'the gateway could not be told yet' }).waitFor()
  })

  async function openDemo(): Promise<Page> {
    const context = await browser.open(demo.url(), { permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    return page
  }
})

function notice(within: Page | Locator, text: string | RegExp): Locator {
  return within.locator('.toast').getByText(text, { exact: true })
}
