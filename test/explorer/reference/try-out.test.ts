// Tests a try-out in the reference: what Enter sends, and which answer is shown.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../../support/browser.ts'
import { shareDemoGateway } from '../../support/command-line.ts'

describe.skipIf(CHROMIUM === undefined)('a try-out of GET /exports', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('sends the reference that Enter chooses, or the typed text after Escape', async () => {
    const { page, field } = await open()
    const sent = referencesSent(page)
    const options = page.locator('.combo-list').getByRole('option')
    await field.fill('half')
    await field.press('Escape')
    await field.press('Enter')
    await expect.poll(() => sent).toEqual(['half'])
    await field.fill('river')
    await options.first().waitFor()
    expect(await options.count()).toBe(1)
    await field.press('Enter')
    await expect.poll(() => sent.slice(1)).toEqual(['river-dashboard'])
    expect(await field.inputValue()).toBe('river-dashboard')
    await page.locator('.combo-list').waitFor({ state: 'detached' })
    await field.fill('half')
    await options.first().waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    await expect.poll(() => sent.slice(2)).toEqual(['halfstep-conf'])
    expect(await field.inputValue()).toBe('halfstep-conf')
  })

  test('shows the answer of the latest run and aborts an earlier one', async () => {
    const { page, field } = await open()
    const held = Promise.withResolvers<void>()
    onTestFinished(() => held.resolve())
    await page.route('**/exports?r=river-dashboard', () => held.promise)
    await run('river-dashboard')
    const givenUp = page.waitForEvent('requestfailed', (request) =>
      request.url().endsWith('/exports?r=river-dashboard'),
    )
    await run('no-such-project')
    await givenUp
    const status = page.locator('#getExports .try .status')
    await status.filter({ hasText: '404' }).waitFor()
    expect(await page.locator('#getExports .try').innerText()).not.toContain('running')

    async function run(reference: string): Promise<void> {
      const asked = page.waitForRequest((request) => request.url().endsWith(`/exports?r=${reference}`))
      await field.fill(reference)
      await field.press('Escape')
      await field.press('Enter')
      await asked
    }
  })

  test('is announced while it runs and when its answer is there', async () => {
    const { page } = await open()
    const form = page.locator('#getExports .try')
    // It exists before the answer, because a screen reader announces changes of what is there.
    const spoken = await form.locator(':scope > [role=status]').elementHandle()
    const text = async () => (await spoken?.innerText()) ?? null
    expect(await text()).toBe('')
    const held = Promise.withResolvers<void>()
    await page.route('**/exports?*', async (route) => {
      await held.promise
      await route.continue()
    })
    await form.getByRole('button', { name: /^Try it/ }).click()
    await expect.poll(text).toBe('Running')
    held.resolve()
    await expect.poll(text).toMatch(/^Answered 200 in [\d.]+ ms$/)
    await page.route('**/exports?*', (route) => route.abort())
    await form.getByRole('button', { name: /^Try it/ }).click()
    await expect.poll(text).toBe('The gateway does not answer.')
  })

  async function open(): Promise<{ readonly page: Page; readonly field: Locator }> {
    const page = await (await browser.open(demo.url())).newPage()
    // The address scrolls there at once, because a list of suggestions closes when the page scrolls.
    await page.goto(`${demo.url()}/docs#getExports`)
    const field = page.locator('#getExports').getByRole('combobox', { name: 'r reference of a project' })
    await field.waitFor()
    // The field has a value once the projects to choose from are loaded.
    await expect.poll(() => field.inputValue()).not.toBe('')
    return { page, field }
  }
})

/** The references of the exports that the page requests from now on. */
function referencesSent(page: Page): readonly (string | null)[] {
  const sent: (string | null)[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/exports') sent.push(searchParams.get('r'))
  })
  return sent
}
