// Long lists in a browser: one stop of the Tab key and arrow keys, everything in them reached, nothing cut in silence.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const CHANGED = 1_200
const LINES = 3_500

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

  test('of files that differ is reached to its end, and a diff that is cut says so', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const files = (text: string) =>
      Array.from({ length: CHANGED }, (_, index) => JSON.stringify({ path: `file-${index}.txt`, content: text }))
    const long = (text: string) =>
      JSON.stringify({
        path: 'a-long-one.txt',
        content: `${text}\n`.repeat(LINES / 2),
      })
    await gateway.load(
      documentLine('project', ANA, '{"id":"p0","ref":"p0","name":"P"}') +
        exported(0, [...files('old'), long('old')]) +
        exported(1, [...files('new'), long('new')]),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p0&tab=exports')
    for (const index of [0, 1]) await page.getByRole('checkbox', { name: 'Compare the export of' }).nth(index).check()
    await page.getByRole('button', { name: 'Compare' }).click()
    // The first of them all: 3,500 lines and their heading, of which 3,000 are drawn.
    await page.locator('.diff', { hasText: 'Cut here: 501 more lines' }).waitFor()
    expect(await page.locator('.diff pre span').count()).toBe(3_000)
    expect(await page.locator('.changes li').count()).toBeLessThan(100)
    await page.locator('.changes [tabindex="0"]').focus()
    await page.keyboard.press('End')
    await expect.poll(() => focused(page)).toContain(`file-${CHANGED - 1}.txt`)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: `What changed in file-${CHANGED - 1}.txt` }).waitFor()
    expect(await page.locator('.diff').innerText()).not.toContain('Cut here')
    expect(await page.locator('.changes [aria-current]').innerText()).toContain(`file-${CHANGED - 1}.txt`)
    // A link to it brings it into sight.
    await page.reload()
    await page.locator('.changes [aria-current]', { hasText: `file-${CHANGED - 1}.txt` }).waitFor()
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
