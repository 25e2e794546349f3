// Tests links to exports: to one that was pruned, and to the comparison of two.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { runHere } from '../support/command-line.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const PROJECT = documentLine('project', ANA, '{"id":"p","ref":"p","name":"Pixel"}')

describe.skipIf(CHROMIUM === undefined)('a link', () => {
  const browser = shareBrowser()

  test('to a pruned export says so, shows no other in its place, and leads to the newest', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(
      PROJECT +
        exported('2016-12-31T23:59:60Z', { path: 'a.txt', content: 'of a leap second' }) +
        exported('2026-02-01T00:00:00Z', { path: 'a.txt', content: 'of February' }),
    )
    const page = await open(gateway, 'tab=exports')
    // Both are shown as dates, also the leap second.
    await expect.poll(() => page.locator('.exports time').count()).toBe(2)
    const compared = await compare(page)
    await page.getByRole('link', { name: 'All exports' }).click()
    const listed = page.locator('.exports a')
    const links = await listed.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    const pruned = await runHere(['exports', 'prune', '--keep', '1', '--database', gateway.databaseUrl])
    expect(pruned.stdout).toContain('removed 1 export')

    const gone = page.getByRole('heading', { name: 'not there any more' })
    for (const address of [gateway.url + links[1], compared]) {
      await page.goto(address)
      await gone.waitFor()
      expect(await page.locator('.opened').innerText()).not.toMatch(/of February|the same files/)
      await page.getByRole('link', { name: 'Open the newest export' }).click()
      await page.locator('.preview .line', { hasText: 'of February' }).waitFor()
      expect(await gone.count()).toBe(0)
    }
    await page.goto(gateway.url + links[0])
    await page.locator('.preview .line', { hasText: 'of February' }).waitFor()
  })

  test('to a comparison lists a file as changed if its text is the same but one export has it as base64', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const [text, element] = ['QUJD', '{"path":"element"}']
    await gateway.load(
      PROJECT +
        exported(
          '2026-01-01T00:00:00Z',
          { path: 'a.txt', content: text },
          { path: 'bytes', content: text },
          JSON.parse(element),
        ) +
        exported(
          '2026-02-01T00:00:00Z',
          { path: 'a.txt', content: text },
          { path: 'bytes', content: text, encoding: 'base64' },
          { path: 'element', content: element },
        ),
    )
    const page = await open(gateway, 'tab=exports')
    await compare(page)
    await page.getByText('2 files differ, 1 the same').waitFor()
    await page.getByRole('button', { name: 'bytes' }).click()
    const bytes = page.getByRole('region', { name: 'What changed in bytes' })
    expect(await bytes.locator('.note').allInnerTexts()).toEqual(['4 B', '3 B'])
    await page.getByRole('button', { name: 'element' }).click()
    const same = page.getByRole('region', { name: 'What changed in element' })
    await same.getByText('The text is the same').waitFor()
  })

  test('to a comparison says that an empty file is empty, and mentions no white space', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(
      PROJECT +
        exported('2026-01-01T00:00:00Z', { path: 'old/.gitkeep', content: '' }) +
        exported('2026-02-01T00:00:00Z', { path: 'new/.gitkeep', content: '' }),
    )
    const page = await open(gateway, 'tab=exports')
    await compare(page)
    for (const path of ['old/.gitkeep', 'new/.gitkeep']) {
      await page.getByRole('button', { name: path }).click()
      const changed = page.getByRole('region', { name: `What changed in ${path}` })
      await changed.waitFor()
      expect(await changed.innerText()).toBe('The file is empty.')
    }
  })

  test('to a file that does not differ says so, and shows no other file in its place', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const same = { path: 'same.txt', content: 'same' }
    await gateway.load(
      PROJECT +
        exported('2026-01-01T00:00:00Z', same, { path: 'a.txt', content: 'of January' }) +
        exported('2026-02-01T00:00:00Z', same, { path: 'a.txt', content: 'of February' }),
    )
    const page = await open(gateway, 'tab=exports')
    const compared = new URL(await compare(page))
    compared.searchParams.set('file', 'same.txt')
    await page.goto(compared.href)
    await page.getByText('same.txt does not differ between these exports.').waitFor()
    expect(await page.locator('.browser').innerText()).not.toContain('of February')
    expect(await page.locator('.changes [aria-current]').count()).toBe(0)
    await page.locator('.changes').getByRole('button', { name: 'a.txt' }).click()
    await page.locator('.browser', { hasText: 'of February' }).waitFor()
    expect(await page.getByText('does not differ').count()).toBe(0)
  })

  async function open({ url }: TestGateway, parameters: string): Promise<Page> {
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace?show=projects&open=p&${parameters}`)
    return page
  }
})

function exported(createdAt: string, ...elements: readonly object[]): string {
  return exportLine(ANA, { r: 'p', createdAt, elements: elements.map((element) => JSON.stringify(element)) })
}

/** Compares the two listed exports and returns the address of the comparison. */
async function compare(page: Page): Promise<string> {
  const boxes = page.getByRole('checkbox', { name: 'Compare the export of' })
  for (const index of [0, 1]) await boxes.nth(index).check()
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.locator('.browser').waitFor()
  return page.url()
}
