// Signing in at an operation of the reference: the person stays there, and goes on with its try-out.
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('signing in at an operation of the reference', () => {
  const browser = shareBrowser()

  test('keeps the place, and puts the focus on its try-out', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/docs#getTemplates`)
    const operation = page.locator('#getTemplates')
    await operation.getByText('Sign in to try it here').click()
    const before = await page.evaluate(() => scrollY)
    expect(before).toBeGreaterThan(0)
    await operation.getByRole('textbox').fill(ANA)
    await page.keyboard.press('Enter')
    const tryIt = operation.getByRole('button', { name: /^Try it.*GET .templates/ })
    await tryIt.waitFor()
    await expect.poll(() => tryIt.evaluate((button) => button === document.activeElement)).toBe(true)
    expect(await tryIt.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(before / 2)
    await page.keyboard.press('Enter')
    await operation.locator('.try .status.good').waitFor()
  })
})
