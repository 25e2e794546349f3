// Tests the view of a text: brackets fold by keyboard, and the search continues when the text changes.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const LISTED = 400

describe.skipIf(CHROMIUM === undefined)('a text', () => {
  const browser = shareBrowser()

  test('folds and unfolds by keyboard, is one tab stop, and shows the keys', async () => {
    const page = await open('/workspace?show=projects&open=p&tab=document')
    const lines = page.locator('.lines')
    await lines.locator('.line', { hasText: '"first"' }).waitFor()
    expect(await page.locator('.lines [tabindex="0"]').count()).toBe(1)
    expect(await page.locator('.fold-hint').isVisible()).toBe(false)
    await lines.focus()
    await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe('1,213 lines from line 2, open')
    await page.locator('.fold-hint', { hasText: '← folds, → unfolds' }).waitFor()
    for (const [key, name] of [
      ['ArrowDown', '7 lines from line 5, open'],
      ['ArrowRight', '5 lines from line 6, open'],
      ['ArrowDown', '3 lines from line 7, open'],
      ['ArrowLeft', '3 lines from line 7, folded'],
      // From a folded bracket, the key moves on to the bracket around it.
      ['ArrowLeft', '5 lines from line 6, open'],
      ['ArrowLeft', '5 lines from line 6, folded'],
      ['ArrowDown', '1,200 lines from line 14, open'],
      ['ArrowUp', '5 lines from line 6, folded'],
      ['ArrowRight', '5 lines from line 6, open'],
      ['ArrowDown', '3 lines from line 7, folded'],
      ['Enter', '3 lines from line 7, open'],
      ['End', '1 line from line 1,212, open'],
      ['Home', '1,213 lines from line 2, open'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(() => focused(page), { message: `after ${key}` }).toBe(name)
    }
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe('7 lines from line 5, open')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => lines.innerText()).not.toContain('"first"')
    await expect.poll(() => lines.innerText()).toContain('… 7 lines')
    // Shift+Tab leaves the text, and Tab returns to the same bracket.
    await page.keyboard.press('Shift+Tab')
    await expect.poll(() => focused(page)).not.toContain('lines from')
    await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe('7 lines from line 5, folded')
  })

  test('keeps the search when another text replaces it, even one with fewer matches', async () => {
    const page = await open('/?route=GET+%2Fexports&r=p')
    await waitForAgreement(page)
    const rest = page.locator('.side.rest')
    await rest.locator('.lines').press('Control+f')
    const field = rest.getByRole('textbox', { name: 'Find in' })
    await field.fill('needle')
    for (const count of ['1 of 3', '2 of 3', '3 of 3']) {
      await rest.getByText(count, { exact: true }).waitFor()
      if (count !== '3 of 3') await field.press('Enter')
    }
    const reference = page.getByRole('combobox', { name: 'r reference of a project' })
    await reference.fill('q')
    await reference.press('Enter')
    await rest.getByText('1 of 1', { exact: true }).waitFor()
    expect(await rest.locator('mark[data-current]').allInnerTexts()).toEqual(['needle'])
  })

  test('lets the focus leave its search field, and takes it back on Ctrl+F', async () => {
    const page = await open('/workspace?show=projects&open=p&tab=document')
    const text = page.locator('.text-view')
    await text.locator('.lines').press('Control+f')
    const field = text.getByRole('textbox', { name: 'Find in' })
    await field.fill('first')
    await text.getByText('1 of 1', { exact: true }).waitFor()
    const wrap = text.getByRole('button', { name: 'Wrap lines' })
    await wrap.press('Enter')
    await wrap.and(page.locator('[aria-pressed=true]')).waitFor()
    expect(await wrap.evaluate((button) => document.activeElement === button)).toBe(true)
    await wrap.press('Control+f')
    await text.locator('.find input:focus').waitFor()
    await page.keyboard.type('list')
    await expect.poll(() => field.inputValue()).toBe('list')
  })

  test.each(['Escape', 'its button'])('has the focus after its search is closed by %s', async (way) => {
    const page = await open('/workspace?show=projects&open=p&tab=document')
    const text = page.locator('.text-view')
    await text.locator('.lines').press('Control+f')
    await text.locator('.find input:focus').waitFor()
    await page.keyboard.type('first')
    await text.getByText('1 of 1', { exact: true }).waitFor()
    if (way === 'Escape') await page.keyboard.press('Escape')
    else await text.getByRole('button', { name: 'Close find' }).press('Enter')
    await text.getByRole('textbox', { name: 'Find in' }).waitFor({ state: 'detached' })
    await text.locator('.lines:focus').waitFor()
    await page.keyboard.press('Control+f')
    await expect.poll(() => text.locator('.find input:focus').inputValue()).toBe('')
  })

  async function open(address: string): Promise<Page> {
    const { url, load } = await startGateway({ demoEmail: ANA })
    const list = Array.from({ length: LISTED }, (_, index) => ({ n: index }))
    await load(
      documentLine('project', ANA, JSON.stringify({ id: 'p', ref: 'p', a: { b: { first: [1, 2, 3] } }, list })) +
        documentLine('project', ANA, '{"id":"q","ref":"q"}') +
        exported('p', 'a needle, hay, Needle needle') +
        exported('q', 'one needle'),
    )
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + address)
    return page
  }
})

function exported(r: string, content: string): string {
  const createdAt = '2026-01-01T00:00:00Z'
  return exportLine(ANA, { r, createdAt, elements: [JSON.stringify({ path: 'a.txt', content })] })
}

/** Names the bracket that has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { ariaLabel, ariaExpanded } = document.activeElement ?? {}
    return `${ariaLabel}, ${ariaExpanded === 'true' ? 'open' : 'folded'}`
  })
}
