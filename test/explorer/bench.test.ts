// Tests the two sides of the first page: they stay aligned, keys choose the reference, and calls stay readable.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

const EXPORTS = '/?route=GET+%2Fexports'

describe.skipIf(CHROMIUM === undefined)('the two sides of the first page', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('start their answers at the same height, whatever each side shows above its answer', async () => {
    const page = await open(`${EXPORTS}&r=nope`)
    await page.locator('.verdict.refused').waitFor()
    await page.locator('.status', { hasText: '200, errors' }).waitFor()
    for (const width of [800, 1_024, 1_090, 1_150, 1_200, 1_260, 1_320, 1_600]) {
      await page.setViewportSize({ width, height: 900 })
      for (const part of ['.text-tools', '.lines']) {
        const [rest, graphql] = await Promise.all(
          ['.rest', '.graphql'].map((side) => page.locator(`${side} ${part}`).boundingBox()),
        )
        expect({ width, part, y: rest?.y }).toEqual({ width, part, y: graphql?.y })
      }
    }
    // The search of one side takes a row of its own.
    await page.setViewportSize({ width: 1_100, height: 900 })
    await page.locator('.rest .lines').press('Control+f')
    const tops = () =>
      page.evaluate(() => [...document.querySelectorAll('.sides .lines')].map((one) => one.getBoundingClientRect().top))
    const [rest, graphql] = await tops()
    expect(rest).toBe(graphql)
  })

  test('run on Enter: the chosen project, the only project that matches, or else the typed text', async () => {
    const page = await open(EXPORTS)
    await waitForAgreement(page)
    const field = page.getByRole('combobox', { name: 'r reference of a project' })
    // After Escape, Enter runs the typed text.
    await field.fill('half')
    await field.press('Escape')
    await field.press('Enter')
    await page.locator('.verdict.refused', { hasText: 'NO_PROJECT' }).waitFor()
    expect(await field.inputValue()).toBe('half')
    await field.fill('river')
    await page.getByRole('option').first().waitFor()
    expect(await page.getByRole('option').count()).toBe(1)
    await field.press('Enter')
    await waitForAgreement(page)
    expect(await field.inputValue()).toBe('river-dashboard')
    expect(new URL(page.url()).searchParams.get('r')).toBe('river-dashboard')
    await page.locator('.combo-list').waitFor({ state: 'detached' })
    await field.fill('half')
    await page.getByRole('option').first().waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    await page.locator('.verdict.refused', { hasText: 'NO_EXPORT' }).waitFor()
    expect(await field.inputValue()).toBe('halfstep-conf')
    await page.locator('.combo-list').waitFor({ state: 'detached' })
    // The same again, although the project is already chosen.
    await field.fill('half')
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('halfstep-conf')
    await page.locator('.verdict.refused', { hasText: 'NO_EXPORT' }).waitFor()
    await page.locator('.combo-list').waitFor({ state: 'detached' })
    // A text that matches several projects, or none, is sent as typed.
    await field.fill('no-such-project')
    await field.press('Enter')
    await page.locator('.verdict.refused', { hasText: 'NO_PROJECT' }).waitFor()
    expect(await field.inputValue()).toBe('no-such-project')
  })

  test('never wrap the backslash of a REST call onto a line of its own', async () => {
    const page = await open(EXPORTS)
    await waitForAgreement(page)
    await page.locator('.rest').getByLabel('with sign-in').check()
    const alone: number[] = []
    for (let width = 1_090; width < 1_400; width += 10) {
      await page.setViewportSize({ width, height: 900 })
      if ((await loneBackslashes(page)) > 0) alone.push(width)
    }
    expect(alone).toEqual([])
  })

  async function open(path: string): Promise<Page> {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url() + path)
    return page
  }
})

/** Counts the backslashes at line ends of the call that are shown on a lower line than the text before them. */
async function loneBackslashes(page: Page): Promise<number> {
  return page.locator('.rest .snippet-text pre').evaluate((call) => {
    const text = call.textContent ?? ''
    const places = [...text.matchAll(/\S \\$/gm)].map(({ index }) => index)
    const walker = document.createTreeWalker(call, NodeFilter.SHOW_TEXT)
    const tops: number[] = []
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (let at = 0; at < (node.textContent ?? '').length; at += 1) {
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + 1)
        tops.push(Math.round(range.getBoundingClientRect().top))
      }
    }
    return places.filter((at) => tops[at] !== tops[at + 2]).length
  })
}
