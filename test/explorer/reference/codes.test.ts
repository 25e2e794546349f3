// Tests that the reference explains every error code and what each field may contain.
import { describe, expect, test } from 'vitest'
import { FAILURE_CODES, messageOf, statusOf } from '../../../src/errors.ts'
import { CHROMIUM, shareBrowser } from '../../support/browser.ts'
import { shareDemoGateway } from '../../support/command-line.ts'

describe.skipIf(CHROMIUM === undefined)('the reference', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('lists every error code with status, meaning and advice, and finds a code by its name', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(`${demo.url()}/docs#errors`)
    const rows = page.locator('.codes tbody tr')
    await rows.first().waitFor()
    const shown = await rows.evaluateAll((found) =>
      found.map((row) => [...row.children].map((cell) => cell.textContent)),
    )
    expect(shown.map(([status, code, message]) => [status, code, message]).sort()).toEqual(
      FAILURE_CODES.map((code) => [String(statusOf(code)), code, messageOf(code).replaceAll('`', '')]).sort(),
    )
    expect(shown.filter(([, , message, advice]) => (advice?.length ?? 0) < 10 || advice === message)).toEqual([])
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('no_export')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.innerText()).toMatch(/404\s+NO_EXPORT\s+This project has no export yet\.\s+Export the project/)
    // The search also finds the operation that answers this code.
    expect(await page.locator('.operation h2 .path').allInnerTexts()).toEqual(['/exports'])
    expect(await page.locator('body').innerText()).not.toContain('No operation is about this')
    // A search that finds an operation leaves the list of codes complete.
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('ui-libraries')
    await expect.poll(() => rows.count()).toBe(FAILURE_CODES.length)
  })

  test('shows what an array contains, and which values a field may have', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.route('**/openapi.json', async (route) => {
      const answer = await route.fetch()
      const document = await answer.json()
      document.components.schemas.Project.properties.colour = { type: 'string', enum: ['red', 'green'] }
      document.components.schemas.Project.properties.sizes = { type: 'array', items: { type: 'integer' } }
      await route.fulfill({ json: document })
    })
    await page.goto(`${demo.url()}/docs`)
    const field = (name: string) =>
      page.locator('#getProjects .fields tr').filter({ has: page.locator('th', { hasText: new RegExp(`^${name}$`) }) })
    await field('tags').waitFor()
    expect(await field('tags').innerText()).toContain('array of (string or null) or null')
    expect(await field('sizes').innerText()).toContain('array of integer')
    expect(await field('colour').innerText()).toMatch(/string[\s\S]*One of\s*red\s*green/)
    expect(await page.locator('#errors .fields tr', { hasText: 'Distinguishes failures' }).innerText()).toContain(
      `string, one of ${FAILURE_CODES.length}`,
    )
  })
})
