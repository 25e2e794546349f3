// Paper: it holds what a page says, all of it, and nothing that is pressed.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const LINES = 3_000
const TEXT = Array.from({ length: LINES }, (_, index) => `line ${index}`).join('\n')
/** More than is laid out in the page itself. */
const LONG = 'a long line of many\n'.repeat(12_000)
const ONE_LINE = `const text = "${'ab '.repeat(700_000)}"`

describe.skipIf(CHROMIUM === undefined)('on paper', () => {
  const browser = shareBrowser()

  test('F34: both answers are whole, in dark ink, without what is pressed', async () => {
    // Narrower than what shows both sides in a window.
    const page = await open('/?route=GET+%2Fexports&r=p', {
      colorScheme: 'dark',
      viewport: { width: 700, height: 900 },
    })
    await waitForAgreement(page)
    expect(await page.locator('.printed').count()).toBe(0)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    for (const side of ['.rest', '.graphql']) {
      const printed = await page.locator(`${side} .printed`).innerText()
      expect(printed).toContain(`line ${LINES - 1}`)
      expect(printed).toContain('"last.txt"')
      expect(printed).not.toContain('Cut here')
    }
    expect(await page.locator('button, .lines, .frame, .routes').filter({ visible: true }).count()).toBe(0)
    const ink = await page.locator('.rest .printed').evaluate((one) => getComputedStyle(one).color)
    expect(ink).toBe('rgb(23, 32, 51)')
    await page.emulateMedia({ media: 'screen' })
    await page.locator('.printed').first().waitFor({ state: 'detached' })
  })

  test('F34: a file and a document are whole, and a text that is too long says how much is left out', async () => {
    const page = await open('/workspace?show=projects&open=p&file=lines.txt')
    await page.locator('.preview .line', { hasText: 'line 0' }).first().waitFor()
    expect(await onPaper(page)).toBe(`lines.txt\n\n${TEXT}`)
    await page.goto(`${new URL(page.url()).origin}/workspace?show=projects&open=large&file=long.txt`)
    await page.locator('.preview .line', { hasText: 'a long line' }).first().waitFor()
    const long = await onPaper(page)
    expect(long.match(/a long line of many/g)).toHaveLength(10_000)
    expect(long).toContain('Cut here: 200,000 of 240,000 characters are printed. Download the text')
    await page.getByRole('treeitem', { name: 'one.js' }).click()
    await page.locator('.preview .line', { hasText: 'const text' }).first().waitFor()
    expect(await onPaper(page)).toContain(`Cut here: 1,000,000 of ${ONE_LINE.length.toLocaleString()} characters`)
    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.locator('.framed .line').first().waitFor()
    await page.getByRole('button', { name: 'Fold all' }).click()
    // What is folded in the window is not folded on paper.
    expect(await onPaper(page)).toContain(`"deep-${LINES - 1}"`)
  })

  test('F34: the browser prints it, sheet after sheet, and GraphiQL’s query and answer too', async () => {
    const page = await open('/workspace?show=projects&open=p&file=lines.txt')
    await page.locator('.preview .line', { hasText: 'line 0' }).first().waitFor()
    expect(sheets(await page.pdf())).toBeGreaterThan(25)
    const query = '{ me { latestExport(ref: "p") { elements { path content } } } }'
    await page.goto(`${new URL(page.url()).origin}/graphql#${new URLSearchParams({ query })}`)
    await page.locator('.graphiql-response .line', { hasText: 'lines.txt' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    const [written, answered] = await page.locator('.printed').allInnerTexts()
    expect(written).toContain(query)
    expect(answered).toContain(`line ${LINES - 1}`)
    expect(await page.locator('button, .CodeMirror').filter({ visible: true }).count()).toBe(0)
    expect(sheets(await page.pdf())).toBeGreaterThan(2)
  })

  async function open(address: string, options = {}): Promise<Page> {
    const { url, load } = await startGateway({ demoEmail: ANA })
    const deep = Array.from({ length: LINES }, (_, index) => `deep-${index}`)
    const exported = (r: string, ...files: readonly (readonly [path: string, content: string])[]) =>
      documentLine('project', ANA, JSON.stringify({ id: r, ref: r, name: r, deep })) +
      exportLine(ANA, {
        r,
        createdAt: '2026-01-01T00:00:00Z',
        elements: files.map(([path, content]) => JSON.stringify({ path, content })),
      })
    await load(
      exported('p', ['lines.txt', TEXT], ['last.txt', 'the last']) +
        exported('large', ['long.txt', LONG], ['one.js', ONE_LINE]),
    )
    const page = await (await browser.open(url, options)).newPage()
    await page.goto(url + address)
    return page
  }
})

/** What of the text in front is printed. */
async function onPaper(page: Page): Promise<string> {
  await page.emulateMedia({ media: 'print' })
  const printed = await page.locator('.printed').innerText()
  await page.emulateMedia({ media: 'screen' })
  return printed
}

function sheets(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
}
