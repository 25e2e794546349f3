// Tests texts with more lines than browsers lay out in one element: all lines are reachable in Chromium and Firefox.
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { FIREFOX, shareFirefox } from '../support/firefox.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

/**
 * Just more lines of 19 pixels than each engine can lay out in one element: Chromium 33.5 million pixels, Firefox 17.8
 * million. More lines only take longer; `npm run test:explorer` has them.
 */
const COUNTS = process.env.TEST_TALL_TEXT === 'all' ? [1_000_000, 2_000_000] : [1_800_000]
const FIREFOX_COUNTS = process.env.TEST_TALL_TEXT === 'all' ? COUNTS : [1_000_000]
const ADDRESS = '/workspace?show=projects&open=p&file=numbers.json'

/** An expression for the page: the numbers of the lines in view, as the page shows them. */
const IN_SIGHT = `[...document.querySelectorAll('.lines .line')].filter((line) => {
  const [{ top, bottom }, view] = [line.getBoundingClientRect(), document.querySelector('.lines').getBoundingClientRect()]
  return top >= view.top - 1 && bottom <= view.bottom + 1
}).map((line) => Number(line.querySelector('.number > span').textContent))`

describe.skipIf(CHROMIUM === undefined)('JSON', () => {
  const browser = shareBrowser()

  test.each(COUNTS)(
    'of %i numbers scrolls to its end in the usual steps, also once folded, and to what is found',
    async (count) => {
      const url = await startWith(count)
      const page = await (await browser.open(url)).newPage()
      await page.goto(url + ADDRESS)
      const inSight = async () => (await page.evaluate(IN_SIGHT)) as readonly number[]
      const first = async () => (await inSight())[0]
      await expect.poll(first).toBe(1)
      const lines = page.locator('.lines')
      await lines.focus()
      await page.keyboard.press('End')
      await expect.poll(async () => (await inSight()).at(-1)).toBe(count + 2)
      const atEnd = (await first()) ?? 0
      await page.keyboard.press('ArrowUp')
      await expect.poll(first).toBe(atEnd - 2)
      await page.keyboard.press('PageUp')
      // The page above ends where this one began, so that no line is skipped.
      await expect.poll(async () => (await inSight()).at(-1)).toBeLessThan(atEnd + 2)
      expect((await inSight()).at(-1)).toBeGreaterThanOrEqual(atEnd - 4)
      await page.keyboard.press('Home')
      await expect.poll(first).toBe(1)
      await page.keyboard.press('ArrowDown')
      await expect.poll(first).toBe(3)
      await lines.hover()
      await page.mouse.wheel(0, 190)
      await expect.poll(first).toBe(13)

      await lines.press('Control+f')
      await page.getByRole('textbox', { name: 'Find in' }).fill('needle')
      await page.locator('mark[data-current]', { hasText: 'needle' }).waitFor()
      await expect.poll(inSight).toContain(lineOfNeedle(count))
      // The address holds the line, and leads back to it.
      const at = (await first()) ?? 0
      await expect.poll(() => Math.abs(Number(new URL(page.url()).searchParams.get('line')) - at) <= 1).toBe(true)
      await page.reload()
      await expect.poll(inSight).toContain(lineOfNeedle(count))

      // Folded to a few lines, it needs no scaling; unfolded, it needs it again.
      await lines.press('Home')
      await expect.poll(first).toBe(1)
      const fold = page.locator('.fold').first()
      for (const isOpen of [false, true]) {
        await fold.click()
        await page.locator(`.fold[aria-expanded="${isOpen}"]`).first().waitFor()
      }
      await lines.press('End')
      await expect.poll(async () => (await inSight()).at(-1)).toBe(count + 2)
    },
  )

  test('that is too long stays in view when it is folded, and scrolls to its end when it is unfolded', async () => {
    const [inside, beside] = [100_000, 800_000]
    const url = await startWithValues([`[${sevens(inside).join(',')}]`, ...sevens(beside)])
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + ADDRESS)
    const last = async () => ((await page.evaluate(IN_SIGHT)) as readonly number[]).at(-1)
    const end = inside + beside + 4
    await expect.poll(last).toBeGreaterThan(1)
    const lines = page.locator('.lines')
    const fold = page.getByRole('button', { name: 'Fold all', exact: true })
    for (const part of [1, 0.95]) {
      await lines.evaluate((element, to) => element.scrollTo({ top: element.scrollHeight * to }), part)
      await expect.poll(last).toBeGreaterThan(end * 0.9)
      await fold.click()
      await expect.poll(last).toBe(end)
      await fold.click()
      await expect.poll(last).toBeLessThan(end)
      await lines.press('End')
      await expect.poll(last).toBe(end)
    }
  })
})

describe.skipIf(FIREFOX === undefined)('in Firefox, JSON', () => {
  const tab = shareFirefox()

  test.each(FIREFOX_COUNTS)('of %i numbers scrolls to its end, and search results come into view', async (count) => {
    await tab().open((await startWith(count)) + ADDRESS)
    await tab().until(`${IN_SIGHT}[0] === 1`)
    await tab().read("document.querySelector('.lines').scrollTop = 1e9")
    await tab().until(`${IN_SIGHT}.at(-1) === ${count + 2}`)
    await tab().read(
      "[...document.querySelectorAll('.text-view button')].find((one) => one.title.startsWith('Find')).click()",
    )
    await tab().until("document.activeElement.matches('.find input')")
    await tab().read(`(() => {
      const field = document.activeElement
      Reflect.set(HTMLInputElement.prototype, 'value', 'needle', field)
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    })()`)
    await tab().until(`${IN_SIGHT}.includes(${lineOfNeedle(count)})`)
  })
})

function lineOfNeedle(count: number): number {
  return Math.floor(count * 0.93) + 2
}

function sevens(count: number): readonly string[] {
  return Array.from({ length: count }, () => '7')
}

function startWith(count: number): Promise<string> {
  return startWithValues(sevens(count).with(lineOfNeedle(count) - 2, '"needle"'))
}

async function startWithValues(values: readonly string[]): Promise<string> {
  const { url, load } = await startGateway({ demoEmail: ANA })
  const element = JSON.stringify({ path: 'numbers.json', content: `[${values.join(',')}]` })
  await load(
    documentLine('project', ANA, '{"id":"p","ref":"p"}') +
      exportLine(ANA, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements: [element] }),
  )
  return url
}
