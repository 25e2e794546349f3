// Tests windows of every width: the pages on phones and tablets, and the edges and colours that all pages share.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { overflow } from '../support/axe.ts'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const EXPORTS = '/?route=GET+%2Fexports'
const PROJECT = '/workspace?show=projects&open=roastery-site'
const LINKS = ['REST ↔ GraphQL', 'GraphiQL', 'Workspace', 'Reference']

describe.skipIf(CHROMIUM === undefined)('the pages in a window', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('F14: 320, 768 and 1,440 pixels wide, visible links lead to every page', async () => {
    const page = await open(EXPORTS, '.verdict.same', 320)
    for (const width of [320, 768, 1_440]) {
      await page.setViewportSize({ width, height: 850 })
      for (const name of LINKS) {
        const menu = page.getByRole('button', { name: 'Menu' })
        expect(await menu.isVisible(), `${width}`).toBe(width < 900)
        if (width < 900) {
          await menu.click()
          expect(await menu.getAttribute('aria-expanded')).toBe('true')
        }
        for (const one of LINKS) {
          const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: one, exact: true })
          expect(await isWholeInSight(page, link), `${one}, ${width}`).toBe(true)
        }
        await page.getByRole('link', { name, exact: true }).click()
        await page
          .getByRole('link', { name, exact: true, includeHidden: true })
          .and(page.locator('[aria-current=page]'))
          .waitFor({ state: 'attached' })
        expect(await overflow(page), `${name}, ${width}`).toEqual([])
      }
    }
  })

  test("F14: a phone shows the chosen route, one side at a time, and the close button beside the first steps' heading", async () => {
    const page = await open('/?route=POST+%2Flogin', '.routes [aria-current]', 390)
    expect(await isWholeInSight(page, page.locator('.routes [aria-current]'))).toBe(true)
    const heading = await page.locator('.first-steps p').boundingBox()
    const cross = await page.getByRole('button', { name: 'Dismiss' }).boundingBox()
    expect(cross?.y).toBeLessThan((heading?.y ?? 0) + (heading?.height ?? 0))
    await page.goto(`${new URL(page.url()).origin}/?route=GET+%2Fexports`)
    await page.locator('.verdict.same').waitFor()
    expect(await page.locator('.side.graphql').isVisible()).toBe(false)
    const rest = await page.locator('.side.rest').boundingBox()
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click()
    await page.locator('.side.graphql').waitFor()
    expect(await page.locator('.side.rest').isVisible()).toBe(false)
    // The second side replaces the first one and is not below it.
    expect((await page.locator('.side.graphql').boundingBox())?.y).toBe(rest?.y)
    await page.getByRole('button', { name: 'REST', exact: true }).click()
    // A call of two lines takes no space from its answer.
    const answer = await page.locator('.side.rest .answer').boundingBox()
    expect((answer?.y ?? 0) - (rest?.y ?? 0)).toBeLessThan(190)

    await page.locator('.routes button', { hasText: '/logout' }).last().click()
    expect(await isWholeInSight(page, page.locator('.routes [aria-current]'))).toBe(true)
    // The route is chosen in a wide window, which shows all routes and then becomes narrow.
    await page.setViewportSize({ width: 1_440, height: 850 })
    await page.locator('.routes button', { hasText: '/projects' }).click()
    await page.locator('.routes button', { hasText: '/logout' }).last().click()
    await page.setViewportSize({ width: 390, height: 850 })
    await expect.poll(() => isWholeInSight(page, page.locator('.routes [aria-current]'))).toBe(true)
  })

  test('the account button stays in view, clear of the links and with its arrow, however long its email is', async () => {
    const { url } = await startGateway()
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/sessions`)
    const form = page.locator('form').filter({ visible: true })
    await form.locator('input[type=email]').fill(`somebody-with-${'a-long-name'.repeat(4)}@example.com`)
    await form.getByRole('button', { name: 'Sign in' }).click()
    const account = page.locator('.account > button')
    const icons = page.locator('.frame :is(svg, .mark)')
    await account.waitFor()
    for (const width of [320, 561, 901, 1_024, 1_081, 1_201, 1_440]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await overflow(page), `${width}`).toEqual([])
      expect(await isWholeInSight(page, account), `${width}`).toBe(true)
      const email = await page.locator('.account .email').boundingBox()
      expect(email?.width, `${width}`).toBeGreaterThan(20)
      expect(await icons.evaluateAll(squeezed), `${width}`).toEqual([])
      if (width <= 900) continue
      const [link, tools] = [page.getByRole('link', { name: 'Reference', exact: true }), page.locator('.tools')]
      const [{ x = 0, width: wide = 0 } = {}, right] = [(await link.boundingBox()) ?? {}, await tools.boundingBox()]
      expect(x + wide, `${width}`).toBeLessThanOrEqual(right?.x ?? 0)
    }
  })

  test('in a window as low as at 400 %, every control of the menu and of the account panel comes into sight', async () => {
    const page = await open('/sessions', '.sessions li', 320)
    await page.setViewportSize({ width: 320, height: 180 })
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    const panel = page.locator('.account .panel')
    await page.getByRole('button', { name: 'Menu' }).click()
    await links.last().focus()
    await shiftTabThrough(page, links)
    // Escape and a click elsewhere close the menu, which covers the page.
    await links.last().press('Escape')
    expect(await links.first().isVisible()).toBe(false)
    const menu = page.getByRole('button', { name: 'Menu' })
    expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true)
    await menu.press('Enter')
    await links.first().waitFor()
    await page.locator('.account > button').click()
    expect(await links.first().isVisible()).toBe(false)
    await panel.getByText('Sign in as somebody else').click()
    // The field gets the focus once the form is open.
    await panel.locator('input:focus').waitFor()
    await panel.getByRole('button', { name: 'Sign in', exact: true }).focus()
    await shiftTabThrough(page, panel.locator('a, button, input, summary'))
  })

  test("a file's name and path share one line of the palette, however long both are", async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    const path = `src/${'unbroken'.repeat(30)}/${'longname'.repeat(8)}.ts`
    await load(
      documentLine('project', ANA, '{"id":"p","ref":"p","name":"P"}') +
        exportLine(ANA, {
          r: 'p',
          createdAt: '2026-01-01T00:00:00Z',
          elements: [JSON.stringify({ path, content: '' })],
        }),
    )
    const page = await (await browser.open(url, { viewport: { width: 390, height: 850 } })).newPage()
    await page.goto(url)
    await page.locator('.verdict.same').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('searchbox').fill('longname')
    const found = page.getByRole('option', { name: /longname/ })
    const [name, row] = [await found.locator('bdi').boundingBox(), await found.boundingBox()]
    expect(name?.width).toBeGreaterThan((row?.width ?? 0) * 0.3)
    expect(row?.height).toBeLessThan(80)
  })

  test('360 and 390 pixels wide, an export shows its age, its size and its digest completely', async () => {
    const page = await open(`${PROJECT}&tab=exports`, '.exports li', 360)
    for (const width of [360, 390]) {
      await page.setViewportSize({ width, height: 850 })
      const row = page.locator('.exports li').last()
      for (const text of [/2026/, / ago$/, /^7 files, 6\.0 kB$/, /^12c1533524ca$/]) {
        expect(await isWholeInSight(page, row.getByText(text)), `${text}, ${width}`).toBe(true)
      }
      const parts = row.locator(':scope > *')
      const cut = await parts.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)
      expect(cut, `${width}`).toBe(0)
      // No part overlaps another one or leaves the row.
      const boxes = await parts.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect))
      const { y = 0, height = 0 } = (await row.boundingBox()) ?? {}
      expect(boxes.filter(({ top, bottom }) => top < y || bottom > y + height)).toEqual([])
      expect(boxes.filter((one, index) => boxes.slice(index + 1).some((other) => isOver(one, other)))).toEqual([])
    }
  })

  test('F14: on a phone a panel of GraphiQL takes the width, and its tools do not cover the query; it ends where the window ends', async () => {
    const page = await open('/graphql', '.graphiql-response .t-string', 390)
    for (const [button, panel] of [
      ['Show Query builder', '.query-builder'],
      ['Show Documentation Explorer', '.graphiql-doc-explorer'],
      ['Show History', '.graphiql-history'],
    ] as const) {
      await page.getByRole('button', { name: button }).click()
      await page.locator(panel).waitFor()
      expect((await page.locator(panel).boundingBox())?.width, panel).toBeGreaterThan(250)
      expect(await page.locator('.graphiql-query-editor').isVisible(), panel).toBe(false)
      expect(await overflow(page)).toEqual([])
    }
    await page.getByRole('button', { name: 'Hide History' }).click()
    const code = await page.locator('.graphiql-query-editor .CodeMirror').boundingBox()
    const tools = await page.locator('.graphiql-toolbar').boundingBox()
    expect((code?.x ?? 0) + (code?.width ?? 0)).toBeLessThanOrEqual((tools?.x ?? 0) + 1)
    expect(code?.width).toBeGreaterThan(200)

    // Variables can be read and written, also in a small window or at 200 %, and no pane covers another.
    await page.locator('.graphiql-tab-button', { hasText: 'Page' }).click()
    for (const [width, height] of [
      [320, 568],
      [360, 740],
      [640, 450],
    ] as const) {
      await page.setViewportSize({ width, height })
      const [variables, editors, answer, whole] = await page.evaluate(() =>
        ['.graphiql-editor-tool .CodeMirror', '.graphiql-editors', '.graphiql-response', '.graphiql-container'].map(
          (pane) => document.querySelector(pane)?.getBoundingClientRect().toJSON() as DOMRect,
        ),
      )
      expect(variables?.height, `${width}x${height}`).toBeGreaterThan(40)
      expect(editors?.bottom, `${width}x${height}`).toBeGreaterThan(variables?.bottom ?? 0)
      expect(answer?.top, `${width}x${height}`).toBeGreaterThanOrEqual(editors?.bottom ?? 0)
      expect(whole?.bottom, `${width}x${height}`).toBeGreaterThan(answer?.bottom ?? 0)
    }

    // Also below the banner of a lost connection, it ends at the lower edge of the window.
    await page.setViewportSize({ width: 1_280, height: 850 })
    const ends = () =>
      page.evaluate(() => {
        const { bottom } = document.querySelector('.graphiql-container')?.getBoundingClientRect() ?? { bottom: 0 }
        return { bottom: Math.round(bottom), page: document.documentElement.scrollHeight }
      })
    const whole = { bottom: 850, page: 850 }
    expect(await ends()).toEqual(whole)
    await page.getByRole('button', { name: 'Show Query builder' }).click()
    await page.locator('.query-builder .check').first().waitFor()
    expect(await ends()).toEqual(whole)
    await page.route('**/*', (route) => route.abort())
    await page.getByRole('button', { name: /Execute query/ }).click()
    await page.locator('.banner').waitFor()
    expect(await ends()).toEqual(whole)
    // In a low window the page scrolls, and the frame stays in sight.
    await page.setViewportSize({ width: 1_280, height: 400 })
    await page.evaluate(() => scrollTo(0, 10_000))
    expect((await ends()).bottom).toBe(400)
    expect((await page.locator('.frame').boundingBox())?.y).toBe(0)
  })

  test('768 and 1,440 pixels wide, a long line of an answer takes no space from GraphiQL’s query', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(documentLine('project', ANA, JSON.stringify({ id: 'p', ref: 'p', name: 'unbroken'.repeat(200) })))
    const page = await (await browser.open(url, { viewport: { width: 768, height: 850 } })).newPage()
    await page.goto(`${url}/graphql`)
    const pane = page.locator('.graphiql-response')
    await pane.locator('.line', { hasText: 'unbroken' }).waitFor()
    const code = pane.getByRole('button', { name: 'Code', exact: true })
    for (const width of [768, 1_440]) {
      await page.setViewportSize({ width, height: 850 })
      const [query, answer] = [await page.locator('.graphiql-editors').boundingBox(), await pane.boundingBox()]
      expect(Math.abs((query?.width ?? 0) - (answer?.width ?? 0)), `${width}`).toBeLessThan(40)
      await code.click()
      for (const name of ['Copy link', 'Find', 'Wrap lines', 'Fold all', 'Copy all', 'Download', 'Copy']) {
        const button = pane.getByRole('button', { name, exact: true })
        expect(await isWholeInSight(page, button), `${name}, ${width}`).toBe(true)
      }
      await code.click()
    }
  })

  test('F28: 1,440 and 1,920 pixels wide, every page and the frame around it have the same two edges', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const widths = [1_440, 1_920]
    const edges = widths.map(() => new Set<string>())
    for (const path of [EXPORTS, '/workspace', PROJECT, '/docs', '/sessions']) {
      await page.goto(demo.url() + path)
      await page.locator('.page').waitFor()
      for (const [index, width] of widths.entries()) {
        await page.setViewportSize({ width, height: 850 })
        for (const part of ['.page', '.frame']) edges[index]?.add(await page.locator(part).evaluate(insideOf))
      }
    }
    expect(edges.map((found) => [...found])).toEqual(widths.map(() => [expect.any(String)]))
  })

  test('F28: GraphiQL has the colours of the other pages, light and dark', async () => {
    const page = await open(EXPORTS, '.verdict.same', 1_280)
    const colourOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => getComputedStyle(one).backgroundColor)
    const coloursIn = async (colorScheme: 'light' | 'dark', ...selectors: readonly string[]) => {
      // Without motion, so that no colour is read on its way.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      return Promise.all(selectors.map(colourOf))
    }
    const light = await coloursIn('light', 'button.primary', '.side')
    const dark = await coloursIn('dark', 'button.primary', '.side')
    expect(dark).not.toEqual(light)
    await page.getByRole('link', { name: 'GraphiQL' }).click()
    await page.locator('.graphiql-response .t-string').first().waitFor()
    for (const [colorScheme, expected] of [
      ['dark', dark],
      ['light', light],
    ] as const) {
      const own = ['.graphiql-execute-button', '.graphiql-page > .graphiql-container']
      const found = await coloursIn(colorScheme, ...own)
      for (const [index, colour] of found.entries()) {
        expect(distance(colour, expected[index] ?? ''), `${own[index]}, ${colorScheme}`).toBeLessThan(8)
      }
      // Pink has red and blue, but little green.
      const inks = await page
        .locator('.graphiql-container *')
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).color))
      expect([...new Set(inks)].filter(isPink), colorScheme).toEqual([])
    }
  })

  async function open(path: string, usable: string, width: number): Promise<Page> {
    const page = await (await browser.open(demo.url(), { viewport: { width, height: 850 } })).newPage()
    await page.goto(demo.url() + path)
    await page.locator(usable).first().waitFor()
    return page
  }
})

async function isWholeInSight(page: Page, link: Locator): Promise<boolean> {
  const box = await link.boundingBox()
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
  return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height
}

/** Presses Shift+Tab from the last control to the first; each must be whole in sight while it has the focus. */
async function shiftTabThrough(page: Page, controls: Locator): Promise<void> {
  for (const control of (await controls.all()).toReversed()) {
    expect(await control.evaluate((one) => one === document.activeElement)).toBe(true)
    expect(await isWholeInSight(page, control), await control.innerHTML()).toBe(true)
    await page.keyboard.press('Shift+Tab')
  }
}

function isOver(one: DOMRect, other: DOMRect): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
}

/** The horizontal edges of an element's content. */
function insideOf(element: Element): string {
  const { left, right } = element.getBoundingClientRect()
  const { paddingLeft, paddingRight } = getComputedStyle(element)
  return `${Math.round(left + Number.parseFloat(paddingLeft))} to ${Math.round(right - Number.parseFloat(paddingRight))}`
}

function channels(colour: string): readonly number[] {
  return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number)
}

/** The largest difference of any channel. */
function distance(one: string, other: string): number {
  const [left, right] = [channels(one), channels(other)]
  return Math.max(...left.map((value, index) => Math.abs(value - (right[index] ?? 0))))
}

function isPink(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = channels(colour)
  return red > 150 && blue > 90 && green < red - 110 && green < blue - 40
}

/** The icons that are narrower than high. All are drawn in a square. */
function squeezed(icons: readonly Element[]): readonly string[] {
  return icons
    .filter((icon) => icon.getBoundingClientRect().width < icon.getBoundingClientRect().height)
    .map((icon) => icon.outerHTML)
}
