// Tests that the frame around the pages stays in place while the user moves between pages.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

describe.skipIf(CHROMIUM === undefined)('the frame', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('keeps every link of a navigation in place, whichever link is current', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    const before = await places(page, 'Pages')
    for (const [name, shown] of [
      ['Reference', '.operation'],
      ['Workspace', '.item'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
      await page.locator(shown).first().waitFor()
      expect(await places(page, 'Pages'), name).toEqual(before)
    }
    const tabs = await places(page, 'Kinds')
    await page.getByRole('link', { name: 'Templates' }).click()
    await page.locator('.tabs [aria-current]', { hasText: 'Templates' }).waitFor()
    expect(await places(page, 'Kinds')).toEqual(tabs)
  })
})

/** The left edge of each link, with its name. */
function places(page: Page, navigation: string): Promise<readonly (readonly [string, number])[]> {
  return page
    .getByRole('navigation', { name: navigation })
    .getByRole('link')
    .evaluateAll((links) =>
      links.map((link) => [(link as HTMLElement).innerText, link.getBoundingClientRect().left] as const),
    )
}
