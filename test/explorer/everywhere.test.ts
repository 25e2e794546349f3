// Tests all pages at all window sizes and in forced colours, and their addresses, texts, lists and tables.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { overflow, violations } from '../support/axe.ts'
import { CHROMIUM, shareBrowser, signIn, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

const EXPORTS = '/?route=GET+%2Fexports'
const PAGES: readonly (readonly [path: string, usable: string])[] = [
  [EXPORTS, '.verdict.same'],
  ['/workspace', '.item'],
  ['/workspace?show=projects&open=roastery-site', '.preview .line'],
  ['/workspace?show=projects&open=roastery-site&tab=exports', '.exports'],
  ['/docs', '.operation'],
  ['/sessions', '.sessions li'],
  ['/graphql', '.graphiql-response .t-string'],
  ['/nosuchpage', 'main h1, main h2'],
]
const JARGON = /(?:local|session)Storage|login guard|\bguard\b|refresh token|\bJWT\b/i
/** The last width is 1,280 pixels at a zoom of 200 %. */
const WIDTHS = [320, 390, 768, 1_440, 1_920, 640]

describe.skipIf(CHROMIUM === undefined)('the pages', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  async function open(path: string, usable: string, options = {}): Promise<Page> {
    const page = await (await browser.open(demo.url(), options)).newPage()
    await page.goto(demo.url() + path)
    await page.locator(usable).first().waitFor()
    return page
  }

  test('F14, F15: no page is wider than its window, from 320 to 1,920 pixels and at 200 %', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    for (const [path, ready] of PAGES) {
      await page.goto(demo.url() + path)
      await page.locator(ready).first().waitFor()
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        expect(await overflow(page), `${path} at ${width}`).toEqual([])
      }
    }
  })

  test('F33, F39: in forced colours and dark mode, the current item is outlined and axe finds no fault', async () => {
    const context = await browser.open(demo.url(), { forcedColors: 'active', colorScheme: 'dark' })
    const page = await context.newPage()
    for (const [path, ready] of PAGES) {
      await page.goto(demo.url() + path)
      await page.locator(ready).first().waitFor()
      // In forced colours the user's own colours apply, but axe would judge ours.
      expect(await violations(page, ['color-contrast']), path).toEqual([])
      const chosen = page.locator('[aria-current]:not([aria-current="false"]), [aria-selected="true"]')
      const outlines = await chosen.evaluateAll((found) => found.map((one) => getComputedStyle(one).outlineStyle))
      // The menu has no entry for the sessions or for an unknown address.
      const isInMenu = path !== '/sessions' && path !== '/nosuchpage'
      expect([...new Set(outlines)], path).toEqual(isInMenu ? ['solid'] : [])
    }
  })

  test('F33: in forced colours, pressed, checked and focused items differ from the others', async () => {
    const page = await open(EXPORTS, '.verdict.same', { forcedColors: 'active', viewport: { width: 390, height: 900 } })
    expect(await page.locator('.routes [aria-current="true"]').count()).toBe(1)
    await expectApart(page, '.theme-switch label:has(:checked)', '.theme-switch label:not(:has(:checked))')
    await expectApart(page, '.segments [aria-pressed="true"]', '.segments [aria-pressed="false"]')
    await page.getByRole('button', { name: 'Wrap lines' }).first().click()
    await expectApart(page, '[title="Wrap lines"][aria-pressed="true"]', '.rest button.icon:not([aria-pressed="true"])')
    await page.getByRole('combobox', { name: 'r reference of a project' }).focus()
    // The focus scrolls the page, and a list that is open then closes.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    await page.keyboard.press('ArrowDown')
    await expectApart(page, '.combo-list .option[data-focused]', '.combo-list .option:not([data-focused])')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.locator('.dialog .option').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await expectApart(page, '.dialog .option[data-focused]', '.dialog .option:not([data-focused])')
  })

  test('F33: in forced colours, light and dark, the icon of the run button is visible', async () => {
    const page = await open('/graphql', '.graphiql-execute-button', { forcedColors: 'active' })
    const button = page.locator('.graphiql-execute-button')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
      const [ground, sign] = await button.evaluate((one) => [
        getComputedStyle(one).backgroundColor,
        getComputedStyle(one.querySelector('svg') ?? one).color,
      ])
      expect(sign, colorScheme).not.toBe(ground)
      expect(await button.evaluate((one) => getComputedStyle(one).borderStyle)).toBe('solid')
    }
  })

  test('F16: routes are history entries, and a page keeps its state while another page is open', async () => {
    const page = await open('/', '.verdict.same')
    for (const route of ['/templates', '/ui-libraries']) {
      await page.locator('.routes button', { hasText: route }).click()
      await page.locator('.controls .path', { hasText: route }).waitFor()
    }
    await page.goBack()
    await page.locator('.controls .path', { hasText: '/templates' }).waitFor()
    const editor = page.getByRole('textbox', { name: /GraphQL query/ })
    await editor.fill('{ me { templates { data id } } }')
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    await page.getByRole('link', { name: 'REST ↔ GraphQL' }).click()
    await waitForAgreement(page)
    expect(await editor.inputValue()).toBe('{ me { templates { data id } } }')
  })

  test('the link of a page leads from inside it to its start, and following it twice takes one step back', async () => {
    const page = await open('/workspace', '.item')
    const [item, line] = [page.locator('.item').first(), page.locator('.preview .line').first()]
    const workspace = page.getByRole('link', { name: 'Workspace', exact: true })
    await page.locator('.item', { hasText: 'Quillmoor' }).click()
    await line.waitFor()
    await workspace.click()
    await item.waitFor()
    await workspace.click()
    await page.goBack()
    await line.waitFor()
  })

  test('F20, F26, F27: the reference shows types and required fields, one error section, and deep links', async () => {
    const page = await open('/docs#deleteLogout', '.operation')
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(500)
    const logout = page.locator('#deleteLogout')
    expect(await logout.innerText()).toMatch(/refreshToken[\s\S]*string[\s\S]*required/)
    expect(await page.locator('#errors').count()).toBe(1)
    expect(await page.locator('#start').innerText()).toMatch(/healthz[\s\S]*readyz|jwks/)
    expect(await page.locator('#getExports .samples').innerText()).toContain('/exports?r=')
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('ui-libraries')
    await expect.poll(() => page.locator('.operation').count()).toBeLessThan(4)
    expect(await page.locator('.operation').first().innerText()).toContain('/ui-libraries')
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'OpenAPI 3.1 document' }).click()
    expect((await downloading).suggestedFilename()).toBe('workspace-gateway.openapi.json')
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('')
    await expect.poll(() => page.locator('.operation').count()).toBeGreaterThan(7)
    expect(await runTogether(page, '.operation h2, .reference nav a')).toEqual([])
    expect(await clippedSnippets(page)).toEqual([])
    await page.goto(demo.url() + EXPORTS)
    await waitForAgreement(page)
    expect(await runTogether(page, '.routes .route')).toEqual([])
    expect(await clippedSnippets(page)).toEqual([])
  })

  test('F29, F38: the pages offer three themes and use no jargon', async () => {
    const page = await open('/', '.verdict.same')
    expect(await page.locator('.theme-switch input').count()).toBe(3)
    await page.goto(demo.url() + EXPORTS)
    await waitForAgreement(page)
    await page.locator('.account > button').click()
    expect(await page.locator('body').innerText()).not.toMatch(JARGON)
    // The sign-in page uses none either.
    const { url } = await startGateway()
    const card = await (await browser.open(url)).newPage()
    await card.goto(url)
    await card.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await card.locator('body').innerText()).not.toMatch(JARGON)
  })

  test('F23, F24, F25, F31, F32, F36: lists are newest first, localized, and say if they are empty', async () => {
    const { url, load } = await startGateway()
    const lines = Array.from({ length: 1_200 }, (_, index) =>
      JSON.stringify({
        id: `p${index}`,
        name: index === 7 ? 'مشروع عربي' : `Project ${index}`,
        updatedAt: new Date(Date.UTC(2026, 0, 1) + (index === 7 ? 5_000 : index) * 60_000).toISOString(),
      }),
    )
    await load(lines.map((line) => documentLine('project', ANA, line)).join(''))
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    await signIn(page, ANA)
    const first = page.locator('.item').first()
    await first.waitFor()
    expect(await first.innerText()).toContain('مشروع عربي')
    expect(await first.locator('bdi').count()).toBeGreaterThan(0)
    expect(await page.locator('main').innerText()).toMatch(/Projects 1,200[\s\S]*1,200 in all/)
    expect(await page.locator('.tabs a').allInnerTexts()).toHaveLength(3)
    await first.click()
    expect(new URL(page.url()).searchParams.get('open')).toBe('p7')
    await page.goBack()
    await page.locator('.tabs a', { hasText: 'UI libraries' }).click()
    await page.getByText('No UI libraries here yet').waitFor()
    expect(await page.locator('main').innerText()).not.toContain('Nothing fits')
  })

  test('a date in Arabic stays in one piece among the English words around it', async () => {
    const page = await open('/workspace?show=projects&open=roastery-site', '.files-head time', { locale: 'ar-EG' })
    expect(await overlaps(page.locator('.files-head time'))).toBe(false)
    await page.getByRole('link', { name: 'Compare with the one before' }).click()
    await page.locator('.files-head bdi').first().waitFor()
    expect(await overlaps(page.locator('.files-head bdi'))).toBe(false)
  })

  test('F35: an unknown address answers 404 with a page that links to the workspace', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const answer = await page.goto(`${demo.url()}/nosuchpage`)
    expect(answer?.status()).toBe(404)
    await page.getByRole('heading', { level: 1, name: 'There is no page at this address' }).waitFor()
    await page.locator('main').getByRole('link', { name: 'workspace' }).click()
    await page.locator('.item').first().waitFor()
  })
})

/**
 * Compares backgrounds. In forced colours the user's colour replaces every one that does not opt out of it, and the
 * computed style does not show the replacement.
 */
async function expectApart(page: Page, chosen: string, other: string): Promise<void> {
  const colours: string[] = []
  for (const selector of [chosen, other]) {
    const one = page.locator(selector).filter({ visible: true }).first()
    await one.waitFor()
    const { isKept, colour } = await one.evaluate((element) => {
      const { forcedColorAdjust, backgroundColor } = getComputedStyle(element)
      return { isKept: forcedColorAdjust === 'none', colour: backgroundColor }
    })
    colours.push(isKept ? colour : "the reader's")
  }
  expect(new Set(colours).size, chosen).toBe(2)
}

/** Whether the first of two elements reaches into the second one, to its right. */
async function overlaps(pair: Locator): Promise<boolean> {
  return pair.evaluateAll((found) => {
    const [before, after] = found.map((one) => one.getBoundingClientRect())
    if (!before || !after) throw new Error('there are no two')
    return before.right > after.left
  })
}

/** Finds methods whose letters overlap their paths; throws if the pages show too few of both. */
async function runTogether(page: Page, selector: string): Promise<readonly string[]> {
  return page.locator(selector).evaluateAll((found) => {
    const letters = (one: Element | null) => {
      const range = document.createRange()
      range.selectNodeContents(one ?? document.body)
      return range.getBoundingClientRect()
    }
    const pairs = found.filter((one) => one.querySelector('.method') && one.querySelector('.path'))
    if (pairs.length < 7) throw new Error(`only ${pairs.length} methods with a path`)
    return pairs
      .filter((one) => {
        const [method, path] = [letters(one.querySelector('.method')), letters(one.querySelector('.path'))]
        return path.top < method.bottom && path.left - method.right < 4
      })
      .map((one) => one.textContent)
  })
}

/** Finds code samples that have to be scrolled sideways or are cut off. */
async function clippedSnippets(page: Page): Promise<readonly string[]> {
  return page.locator('.snippet-text').evaluateAll((found) => {
    if (found.length === 0) throw new Error('no samples')
    return found
      .filter((one) => [one, ...one.querySelectorAll('*')].some((part) => part.scrollWidth > part.clientWidth))
      .map((one) => one.textContent)
  })
}
