// Tests printed pages: paper has the whole content of a page, and no controls.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const LINES = 3_000
const TEXT = Array.from({ length: LINES }, (_, index) => `line ${index}`).join('\n')
/** Longer than the text that the page itself lays out. */
const LONG = 'a long line of many\n'.repeat(12_000)
/** More rows than the window draws, and more files than are printed. */
const [PROJECTS, FILES] = [600, 5_010]
const ONE_LINE = `const text = "${'ab '.repeat(700_000)}"`

describe.skipIf(CHROMIUM === undefined)('on paper', () => {
  const browser = shareBrowser()

  test('F34: both answers are printed whole, in dark ink, without controls, and GraphiQL’s query and answer too', async () => {
    // Narrower than a window that shows both sides.
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

  test('F34: files and documents are printed whole, and too long a text says how much is left out', async () => {
    const large = exported('large', ['long.txt', LONG], ['one.js', ONE_LINE])
    const page = await open('/workspace?show=projects&open=p&file=lines.txt', {}, large)
    await page.locator('.preview .line', { hasText: 'line 0' }).first().waitFor()
    expect(sheets(await page.pdf())).toBeGreaterThan(25)
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
    // What is folded in the window is unfolded on paper.
    expect(await onPaper(page)).toContain(`"deep-${LINES - 1}"`)
  })

  test('F34: a list is printed with every row, and says how many rows are left out', async () => {
    const page = await open('/workspace', { viewport: { width: 900, height: 700 } }, manyRows())
    await page.locator('.item').first().waitFor()
    expect(await page.locator('.item').count()).toBeLessThan(100)
    await page.emulateMedia({ media: 'print' })
    await expect.poll(() => page.locator('.item').count()).toBe(PROJECTS + 2)
    expect(await page.locator('.items').innerText()).not.toContain('Cut here')
    expect(await page.locator('.filters').innerText()).toBe(`${(PROJECTS + 2).toLocaleString()} in all`)
    await page.emulateMedia({ media: null })
    await expect.poll(() => page.locator('.item').count()).toBeLessThan(100)
    const whole = sheets(await page.pdf())
    expect(whole).toBeGreaterThan(PROJECTS / 25)
    await page.getByLabel('Search').fill('project 59')
    await page.getByText(/^16 of /).waitFor()
    expect(sheets(await page.pdf())).toBeLessThan(whole / 4)

    await page.goto(`${new URL(page.url()).origin}/workspace?show=projects&open=wide&tab=exports`)
    const boxes = page.getByRole('checkbox', { name: 'Compare the export of' })
    for (const index of [0, 1]) await boxes.nth(index).check()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('5,010 files differ').waitFor()
    await page.emulateMedia({ media: 'print' })
    await expect.poll(() => page.locator('.changes li').count()).toBe(5_000)
    expect(await page.locator('.changes').innerText()).toContain('Cut here: 10 more rows are not printed.')
    const [first, second] = await Promise.all([0, 1].map((row) => page.locator('.changes li').nth(row).boundingBox()))
    expect(second?.y).toBe((first?.y ?? 0) + (first?.height ?? 0))
  })

  async function open(address: string, options = {}, more = ''): Promise<Page> {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(exported('p', ['lines.txt', TEXT], ['last.txt', 'the last']) + more)
    const page = await (await browser.open(url, options)).newPage()
    await page.goto(url + address)
    return page
  }
})

/** Returns a project with a long document and an export. */
function exported(r: string, ...files: readonly (readonly [path: string, content: string])[]): string {
  const deep = Array.from({ length: LINES }, (_, index) => `deep-${index}`)
  const elements = files.map(([path, content]) => JSON.stringify({ path, content }))
  return (
    documentLine('project', ANA, JSON.stringify({ id: r, ref: r, name: r, deep })) +
    exportLine(ANA, { r, createdAt: '2026-01-01T00:00:00Z', elements })
  )
}

/** Returns the printed part of the text that is open. */
async function onPaper(page: Page): Promise<string> {
  await page.emulateMedia({ media: 'print' })
  const printed = await page.locator('.printed').innerText()
  await page.emulateMedia({ media: 'screen' })
  return printed
}

function sheets(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
}

/** Returns many projects, one of which has two exports that differ in every file. */
function manyRows(): string {
  const files = (content: string) =>
    Array.from({ length: FILES }, (_, index) => JSON.stringify({ path: `${index}.txt`, content }))
  return [
    ...Array.from({ length: PROJECTS }, (_, index) =>
      documentLine('project', ANA, JSON.stringify({ id: `p${index}`, name: `Project ${index}` })),
    ),
    documentLine('project', ANA, JSON.stringify({ id: 'wide', ref: 'wide', name: 'Wide' })),
    exportLine(ANA, { r: 'wide', createdAt: '2026-01-01T00:00:00Z', elements: files('a') }),
    exportLine(ANA, { r: 'wide', createdAt: '2026-01-02T00:00:00Z', elements: files('b') }),
  ].join('')
}
