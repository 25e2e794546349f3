// Long lists in a browser: one stop of the Tab key and arrow keys.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('a long list', () => {
  const browser = shareBrowser()

  test('of projects and of exports is one stop, and arrow keys, Home and End go through all of it', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(
      Array.from({ length: 400 }, (_, index) =>
        documentLine('project', ANA, JSON.stringify({ id: `p${index}`, ref: `p${index}`, name: `Project ${index}` })),
      ).join('') + Array.from({ length: 60 }, (_, index) => exported(index, [])).join(''),
    )
    const page = await open(gateway, '/workspace?sort=name')
    await page.locator('.item').first().waitFor()
    expect(await page.locator('.items [tabindex="0"]').count()).toBe(1)
    await page.locator('.items [tabindex="0"]').focus()
    expect(await focused(page)).toMatch(/^Project 0\b/)
    for (const [key, name] of [
      ['ArrowDown', 'Project 1'],
      ['End', 'Project 399'],
      ['ArrowDown', 'Project 399'],
      ['PageUp', 'Project 389'],
      ['ArrowUp', 'Project 388'],
      ['Home', 'Project 0'],
      ['End', 'Project 399'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(() => focused(page), { message: `after ${key}` }).toMatch(new RegExp(`^${name}\\b`))
    }
    // On from the row, and back to it.
    await page.keyboard.press('Shift+Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('.items') ?? null)).toBeNull()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toMatch(/^Project 399\b/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Project 399' }).waitFor()

    await page.goto(`${gateway.url}/workspace?show=projects&open=p0&tab=exports`)
    const boxes = page.getByRole('checkbox', { name: 'Compare the export of' })
    await boxes.first().focus()
    for (const key of ['Space', 'ArrowDown', 'End']) await page.keyboard.press(key)
    await page.locator('.exports [aria-posinset="60"] input:focus').press('Space')
    await page.getByText('Two are chosen.').waitFor()
    expect(await boxes.last().isChecked()).toBe(true)
    expect(await page.locator('.exports [tabindex="0"]').count()).toBe(2)
  })

  async function open({ url }: TestGateway, address: string): Promise<Page> {
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + address)
    return page
  }
})

/** Of the first project, a day after the one before. */
function exported(index: number, elements: readonly string[]): string {
  const createdAt = new Date(Date.UTC(2026, 0, 1 + index)).toISOString()
  return exportLine(ANA, { r: 'p0', createdAt, elements })
}

function focused(page: Page): Promise<string> {
  return page.evaluate(() => (document.activeElement as HTMLElement).innerText)
}
