// What the pages show when something that they need has failed: styles, code, storage, workers, or a page itself.
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

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
})
