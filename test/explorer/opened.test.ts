// Tests what an opened document of the workspace shows about itself: its file, the number of its parts, its user.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, BEN, documentLine, exportLine } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('an opened document', () => {
  const browser = shareBrowser()

  test('does not fall back to another file when the named file is missing', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const files = ['README.md', 'src/a.ts'].map((path) => ({ path, content: path }))
    await gateway.load(
      documentLine('project', ANA, '{"id":"p","ref":"p"}') +
        exportLine(ANA, {
          r: 'p',
          createdAt: '2026-01-01T00:00:00Z',
          elements: files.map((file) => JSON.stringify(file)),
        }) +
        documentLine('template', ANA, JSON.stringify({ id: 't', files })),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p&tab=files&file=src%2Fgone.ts')
    await page.getByText('src/gone.ts is not in this export').waitFor()
    const chosen = page.locator('[role="treeitem"][aria-selected="true"]')
    expect(await chosen.count()).toBe(0)
    expect(await page.locator('.preview .line').count()).toBe(0)
    await page.getByRole('treeitem', { name: 'a.ts' }).click()
    await page.locator('.preview .line', { hasText: 'src/a.ts' }).waitFor()
    expect(await chosen.allInnerTexts()).toEqual(['a.ts'])
    await page.goto(`${gateway.url}/workspace?show=templates&open=t&file=gone.md`)
    await page.getByText('gone.md is not in this template').waitFor()
  })

  test('shows a file half a million folders deep: 100 of them are in the tree, the rest in its name', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const deep = `${'a/'.repeat(500_000)}deep.txt`
    const files = [deep, 'b.txt'].map((path) => ({ path, content: `in ${path.slice(-8)}` }))
    await gateway.load(
      documentLine('project', ANA, '{"id":"p","ref":"p"}') +
        exportLine(ANA, {
          r: 'p',
          createdAt: '2026-01-01T00:00:00Z',
          elements: files.map((file) => JSON.stringify(file)),
        }),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p&tab=files&file=b.txt')
    await page.locator('.preview .line', { hasText: 'in b.txt' }).waitFor()
    const tree = page.getByRole('tree')
    await tree.press('End')
    await tree.press('ArrowUp')
    const last = page.locator('[role="treeitem"].at')
    expect(await last.getAttribute('aria-level')).toBe('101')
    expect((await last.innerText()).slice(-12)).toBe('a/a/deep.txt')
    const [shown, room] = await Promise.all([last.locator('bdi').boundingBox(), tree.boundingBox()])
    expect((shown?.x ?? Infinity) + 100).toBeLessThan((room?.x ?? 0) + (room?.width ?? 0))
    await tree.press('Enter')
    await page.locator('.preview .line', { hasText: 'in deep.txt' }).waitFor()
  })

  test('says of a UI library how many components it has, not how many files they have', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const components = ['Badge', 'Card'].map((name) => ({ name, files: [{ path: `${name}.tsx`, content: name }] }))
    const files = [{ path: 'README.md', content: 'Read me' }]
    await gateway.load(
      documentLine('uiLibrary', ANA, JSON.stringify({ id: 'parts', components, files })) +
        documentLine('uiLibrary', ANA, JSON.stringify({ id: 'loose', files })),
    )
    const page = await open(gateway, '/workspace?show=libraries&open=parts')
    const tab = page.locator('.segments [aria-pressed="true"]', { hasText: /\d/ })
    expect((await tab.innerText()).replace(/\s+/, ' ')).toBe('Components 2')
    await page.goto(`${gateway.url}/workspace?show=libraries&open=loose`)
    expect((await tab.innerText()).replace(/\s+/, ' ')).toBe('Files 1')
  })

  test('scrolls its current tab into view where a narrow window has no room for all tabs', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(documentLine('project', ANA, '{"id":"p","ref":"p"}') + exported(0) + exported(1))
    const page = await open(gateway, '/workspace?show=projects&open=p&tab=overview')
    const row = page.getByRole('navigation', { name: 'Parts of the project' })
    const last = row.getByRole('link', { name: 'Exports 2' })
    const cutOff = () =>
      row.evaluate((nav) => {
        const shown = nav.querySelector('[aria-current]')?.getBoundingClientRect()
        return Math.max(0, Math.round((shown?.right ?? Infinity) - nav.getBoundingClientRect().right))
      })
    await page.setViewportSize({ width: 320, height: 700 })
    await row.waitFor()
    expect(await row.evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBeGreaterThan(0)
    await last.dispatchEvent('click')
    await expect.poll(() => row.locator('[aria-current]').innerText()).toContain('Exports')
    await expect.poll(cutOff).toBe(0)
    await page.reload()
    await last.waitFor()
    expect(await cutOff()).toBe(0)
    // A phone that is turned and turned back.
    await page.setViewportSize({ width: 700, height: 320 })
    await page.setViewportSize({ width: 320, height: 700 })
    await expect.poll(cutOff).toBe(0)
  })

  test("is looked up in one user's workspace; if it is missing, somebody else may sign in", async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(
      documentLine('project', ANA, '{"id":"p","ref":"p"}') + documentLine('project', BEN, '{"id":"b","name":"Of Ben"}'),
    )
    const page = await open(gateway, '/workspace?show=projects&open=b')
    await page.getByText(`There is nothing by this name in the workspace of ${ANA}`).waitFor()
    await page.locator('main').getByText('Sign in as somebody else').click()
    await signIn(page, BEN)
    await page.getByRole('heading', { name: 'Of Ben' }).waitFor()
  })

  test('is found if it was added since the list was read, and the next visit shows what has changed', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const exportAt = (createdAt: string) => exportLine(ANA, { r: 'p', createdAt, elements: ['{"path":"a.txt"}'] })
    await gateway.load(
      documentLine('project', ANA, '{"id":"p","ref":"p","name":"Before"}') +
        documentLine('project', ANA, '{"id":"gone","ref":"gone"}') +
        exportAt('2026-01-01T00:00:00Z'),
    )
    const page = await open(gateway, '/workspace')
    await page.locator('.item', { hasText: 'gone' }).waitFor()
    await gateway.load(
      documentLine('project', ANA, '{"id":"new","ref":"new","name":"Added"}') +
        `${JSON.stringify({ kind: 'project', email: ANA, id: 'gone', removed: true })}\n`,
    )
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Added' }).click()
    await page.getByRole('heading', { name: 'Added' }).waitFor()
    await page.locator('.crumbs button').click()
    await page.locator('.item', { hasText: 'Added' }).waitFor()
    expect(await page.locator('.item', { hasText: 'gone' }).count()).toBe(0)

    await page.locator('.item', { hasText: 'Before' }).click()
    await page.locator('.tabs a', { hasText: 'Exports 1' }).waitFor()
    await gateway.load(
      documentLine('project', ANA, '{"id":"p","ref":"p","name":"After"}') + exportAt('2026-02-01T00:00:00Z'),
    )
    await page.locator('.tabs a', { hasText: 'Overview' }).click()
    await page.locator('.tabs a', { hasText: 'Exports 2' }).waitFor()
    await page.getByRole('heading', { name: 'After' }).waitFor()
    await expect.poll(() => page.locator('.crumbs').innerText()).toContain('After')
    await expect.poll(() => page.title()).toBe('After · Workspace Gateway')
    await gateway.load(`${JSON.stringify({ kind: 'project', email: ANA, id: 'p', removed: true })}\n`)
    await page.locator('.tabs a', { hasText: 'Exports' }).click()
    await page.getByRole('heading', { name: 'It is not there' }).waitFor()

    // While the gateway cannot be reached, the list that was read last stays.
    await page.context().setOffline(true)
    await page.locator('.crumbs button').click()
    await page.locator('.banner').waitFor()
    expect(await page.locator('.item').allInnerTexts()).toHaveLength(2)
  })

  test('and its files are found by names that are typed as one character a letter and stored as two', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const [stored, typed] = ['Übung'.normalize('NFD'), 'übung'.normalize('NFC')]
    await gateway.load(
      documentLine('project', ANA, JSON.stringify({ id: 'p', ref: 'p', name: `${stored} one` })) +
        documentLine('project', ANA, '{"id":"q","ref":"q","name":"Another"}') +
        exportLine(ANA, {
          r: 'p',
          createdAt: '2026-01-01T00:00:00Z',
          elements: [JSON.stringify({ path: `${stored}.txt` }), '{"path":"b.txt"}'],
        }),
    )
    const page = await open(gateway, '/workspace')
    await page.getByRole('searchbox').fill(typed)
    await page.getByText('1 of 2').waitFor()
    await page.locator('.item').click()
    await page.getByPlaceholder('Find in 2 files').fill(typed)
    await expect.poll(() => page.getByRole('treeitem').allInnerTexts()).toEqual([`${stored}.txt`])
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('searchbox').fill(`${typed}.txt`)
    await page.getByRole('option', { name: `${stored}.txt` }).waitFor()
    await page.getByRole('dialog').getByRole('searchbox').fill(`${typed} projects`)
    await page.getByRole('option', { name: `${stored} one` }).waitFor()
    await page.goto(`${gateway.url}/?route=GET+%2Fexports`)
    await page.getByRole('combobox', { name: 'r reference of a project' }).fill(typed)
    await page.getByRole('option', { name: stored }).waitFor()
  })

  test('offers no comparison if it has only one export', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(documentLine('project', ANA, '{"id":"p","ref":"p"}') + exported(0))
    const page = await open(gateway, '/workspace?show=projects&open=p&tab=exports')
    await page.locator('.exports a').waitFor()
    expect(await page.locator('main').innerText()).not.toMatch(/compare/i)
    expect(await page.locator('main').getByRole('checkbox').count()).toBe(0)
    await gateway.load(exported(1))
    await page.reload()
    await page.getByText('Choose two exports to compare them.').waitFor()
    expect(await page.getByRole('checkbox', { name: 'Compare the export of' }).count()).toBe(2)
  })

  async function open({ url }: TestGateway, address: string): Promise<Page> {
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + address)
    return page
  }
})

/** An export of the project `p`, one day newer than the one before. */
function exported(index: number): string {
  return exportLine(ANA, { r: 'p', createdAt: new Date(Date.UTC(2026, 0, 1 + index)).toISOString(), elements: [] })
}
