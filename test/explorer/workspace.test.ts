// Tests the workspace in a browser: its documents can be found, read, compared and downloaded.
import { readFileSync } from 'node:fs'
import { unzipSync } from 'fflate'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const EVE = 'eve@example.com'
const LONG = 'x'.repeat(900)
/** A PNG of one red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

describe.skipIf(CHROMIUM === undefined)('the workspace', () => {
  const browser = shareBrowser()

  async function open(gateway: TestGateway, address: string): Promise<Page> {
    const context = await browser.open(gateway.url, { permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(gateway.url + address)
    await signIn(page, EVE)
    return page
  }

  test('opens any export, reads it by keyboard, compares it and its white space, and downloads it unchanged', async () => {
    const gateway = await startGateway()
    const files = (title: string, ...more: readonly object[]) =>
      [
        { path: 'src/Component10.ts', content: 'export const ten = 10\n' },
        { path: 'src/Component2.ts', content: `export const title = '${title}'\n` },
        { path: 'README.md', content: '# Read me\n' },
        ...more,
      ].map((element) => JSON.stringify(element))
    const spaces = (createdAt: string, ...contents: readonly string[]) =>
      exportLine(EVE, {
        r: 'spaces',
        createdAt,
        elements: contents.map((content, index) => JSON.stringify({ path: ['a.json', 'b.txt'][index], content })),
      })
    const logo = { path: 'logo.png', encoding: 'base64', content: PNG }
    const disguised = { path: 'gpj.\u202eexe.txt', content: 'text' }
    await gateway.load(
      documentLine('project', EVE, '{"id":"p","ref":"p","name":"Pixel","size":1.0,"big":12345678901234567890}') +
        exportLine(EVE, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements: files('old') }) +
        exportLine(EVE, { r: 'p', createdAt: '2026-02-01T00:00:00Z', elements: files('new', logo, disguised) }) +
        documentLine('project', EVE, '{"id":"spaces","ref":"spaces"}') +
        spaces('2026-01-01T00:00:00Z', '{"a":1}', 'one\r\ntwo\r\n') +
        spaces('2026-02-01T00:00:00Z', '{\n  "a": 1\n}\n', 'one\ntwo\n'),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p')
    const items = page.getByRole('treeitem')
    await items.first().waitFor()
    expect(await page.title()).toBe('Pixel · Workspace Gateway')
    expect(await items.allInnerTexts()).toEqual([
      'src',
      'Component2.ts',
      'Component10.ts',
      'gpj.\ufffdexe.txt',
      'logo.png',
      'README.md',
    ])
    expect(await items.nth(2).getAttribute('aria-posinset')).toBe('2')
    // The readme opens first; from there only the keyboard is used.
    await page.locator('.preview .line', { hasText: 'Read me' }).waitFor()
    await page.getByRole('tree').focus()
    for (const key of ['ArrowUp', 'Enter']) await page.keyboard.press(key)
    expect(await page.locator('.picture img').getAttribute('src')).toBe(`data:image/png;base64,${PNG}`)
    for (const key of ['Home', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
    await page.locator('.preview .line', { hasText: "title = 'new'" }).waitFor()
    expect(new URL(page.url()).searchParams.get('file')).toBe('src/Component2.ts')

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download zip' }).click()
    const zip = unzipSync(readFileSync(await (await downloading).path()))
    expect(Buffer.from(zip['logo.png'] ?? []).toString('base64')).toBe(PNG)

    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.locator('.line', { hasText: '12345678901234567890' }).waitFor()
    await page.locator('.line', { hasText: '1.0' }).waitFor()

    await page.getByRole('link', { name: 'Exports 2' }).click()
    for (const box of await page.getByRole('checkbox', { name: 'Compare the export of' }).all()) await box.check()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('3 files differ').waitFor()
    await page.getByRole('button', { name: 'Component2.ts' }).click()
    expect(await page.locator('.diff .plus').allInnerTexts()).toEqual([
      expect.stringContaining("+export const title = 'new'"),
    ])
    expect(await page.locator('.diff .minus').allInnerTexts()).toEqual([
      expect.stringContaining("-export const title = 'old'"),
    ])
    await page.getByRole('link', { name: 'All exports' }).click()
    await page.locator('.exports a').nth(1).click()
    await page.locator('.preview .line', { hasText: 'Read me' }).waitFor()
    expect(await items.count()).toBe(4)

    await page.goto(`${gateway.url}/workspace?show=projects&open=spaces&tab=exports`)
    await signIn(page, EVE)
    const boxes = page.getByRole('checkbox', { name: 'Compare the export of' })
    for (const index of [0, 1]) await boxes.nth(index).check()
    await page.getByRole('button', { name: 'Compare' }).click()
    for (const name of ['a.json', 'b.txt']) {
      await page.getByRole('button', { name }).click()
      await page
        .getByRole('region', { name: `What changed in ${name}` })
        .getByText('Only white space differs')
        .waitFor()
    }
  })

  test('does not show a replaced export or document under the name of the old one', async () => {
    const gateway = await startGateway()
    const exported = (createdAt: string, content: string) =>
      exportLine(EVE, { r: 'p', createdAt, elements: [JSON.stringify({ path: 'a.txt', content })] })
    await gateway.load(
      documentLine('project', EVE, '{"id":"p","ref":"p","name":"Pixel"}') +
        documentLine('template', EVE, '{"id":"first","name":"First"}') +
        documentLine('template', EVE, '{"id":"last","name":"Last"}') +
        exported('2026-01-01T00:00:00Z', 'of January'),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p&tab=exports')
    const listed = page.locator('.exports a').first()
    await listed.waitFor()
    await gateway.load(exported('2026-02-01T00:00:00Z', 'of February'))
    await listed.click()
    await page.getByText('of January').waitFor()
    expect(await page.getByText('of February').count()).toBe(0)
    await page.locator('.tabs a', { hasText: 'Exports 2' }).waitFor()
    const read = page.waitForResponse('**/graphql')
    await page.route('**/exports?r=p', async (route) => {
      // Between the answer that names the newest export and its text.
      await read
      await gateway.load(exported('2026-03-01T00:00:00Z', 'of March'))
      await route.continue()
    })
    await page.locator('.tabs a', { hasText: 'Files' }).click()
    await page.getByText('This project has changed meanwhile: open it again from the list.').waitFor()
    expect(await page.getByText('of March').count()).toBe(0)
    await page.unrouteAll({ behavior: 'wait' })
    // Like a proxy that compresses the answer.
    await page.route('**/exports?r=p', async (route) => {
      const response = await route.fetch()
      const headers = { ...response.headers(), etag: `W/${response.headers().etag}` }
      await route.fulfill({ response, headers })
    })
    await page.locator('.crumbs button').click()
    await page.locator('.item').first().click()
    await page.getByText('of March').waitFor()
    await Promise.all([page.waitForResponse('**/graphql'), page.locator('.tabs a', { hasText: 'Overview' }).click()])
    const readLast = page.waitForResponse('**/graphql')
    await page.route('**/exports?r=p', async (route) => {
      await readLast
      await gateway.load(`${JSON.stringify({ kind: 'project', email: EVE, id: 'p', removed: true })}\n`)
      await route.continue()
    })
    await page.locator('.tabs a', { hasText: 'Files' }).click()
    await page.getByText('This project has changed meanwhile: open it again from the list.').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await page.goto(`${gateway.url}/workspace?show=templates`)
    await signIn(page, EVE)
    await page.locator('.item').first().waitFor()
    await gateway.load(
      JSON.stringify({ kind: 'template', email: EVE, id: 'last', removed: true }) +
        '\n' +
        documentLine('template', EVE, '{"id":"other","name":"Other"}'),
    )
    await page.locator('.item', { hasText: 'Last' }).click()
    await page.getByText('This workspace has changed meanwhile: open it again from the list.').waitFor()
    await page.locator('.crumbs button').click()
    await page.locator('.item', { hasText: 'Other' }).click()
    await page.getByRole('heading', { name: 'Other' }).waitFor()
  })

  test('searches, wraps, folds and copies a whole text, however much of it is drawn', async () => {
    const gateway = await startGateway()
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${index === 15_000 ? 'NEEDLE' : 'hay'}`)
    const elements = [
      { path: 'big.txt', content: lines.join('\n') },
      { path: 'one-line.js', content: `const text = "${'ab '.repeat(200_000)}"` },
    ].map((element) => JSON.stringify(element))
    await gateway.load(
      documentLine('project', EVE, '{"id":"p","ref":"p","deep":{"er":[1,2,3]}}') +
        exportLine(EVE, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements }),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p&file=big.txt')
    await page.locator('.preview .line').first().waitFor()
    await page.getByRole('button', { name: 'Copy all' }).click()
    await page.locator('.toast', { hasText: 'Copied' }).waitFor()
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
    expect(await clipboard()).toBe(lines.join('\n'))
    await page.evaluate(() => navigator.clipboard.writeText('before'))
    await page.locator('.lines').press('Control+a')
    await page.keyboard.press('Control+c')
    await expect.poll(clipboard).toBe(lines.join('\n'))
    // A part of the text is copied as it was selected.
    await page
      .locator('.preview .line .code')
      .first()
      .dblclick({ position: { x: 5, y: 5 } })
    await page.keyboard.press('Control+c')
    await expect.poll(clipboard).toMatch(/^line ?$/)
    await page.locator('.lines').press('Control+f')
    const said = await recordTexts(page, '.find [role=status]')
    await page.getByRole('textbox', { name: 'Find in big.txt' }).fill('needle')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    // While it is searched, nothing claims that there is no match.
    expect(await said()).toEqual(['1 of 1'])
    await page.locator('mark[data-current]', { hasText: 'NEEDLE' }).waitFor()
    expect(await page.locator('.preview .line').count()).toBeLessThan(120)

    await page.getByRole('treeitem', { name: 'one-line.js' }).click()
    await page.locator('.preview .number', { hasText: '↪' }).first().waitFor()
    await page.getByRole('button', { name: 'Wrap lines' }).click()
    const box = page.getByRole('region', { name: 'one-line.js' })
    await expect.poll(() => box.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0)

    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.locator('.line', { hasText: '"er"' }).waitFor()
    await page.getByRole('button', { name: 'Fold all' }).click()
    await expect.poll(() => page.locator('.line', { hasText: '"er"' }).count()).toBe(0)
    await page.locator('.line', { hasText: 'lines' }).waitFor()
  })

  test('finds files by path, folds all folders, and starts with folded folders for many files', async () => {
    const gateway = await startGateway()
    const exported = (r: string, paths: readonly string[]) =>
      exportLine(EVE, {
        r,
        createdAt: '2026-01-01T00:00:00Z',
        elements: paths.map((path) => JSON.stringify({ path, content: path })),
      })
    const many = Array.from({ length: 3_000 }, (_, index) => `folder-${index % 1_000}/file-${index}.txt`)
    await gateway.load(
      ['few', 'many'].map((ref) => documentLine('project', EVE, JSON.stringify({ id: ref, ref }))).join('') +
        exported('few', ['src/deep/B.ts', 'src/a.ts', 'docs/c.md']) +
        exported('many', many),
    )
    const page = await open(gateway, '/workspace?show=projects&open=few')
    const items = page.getByRole('treeitem')
    await items.first().waitFor()
    const whole = ['docs', 'c.md', 'src', 'deep', 'B.ts', 'a.ts']
    expect(await items.allInnerTexts()).toEqual(whole)
    const search = page.getByRole('searchbox', { name: 'Find a file' })
    // Screen readers announce changes of an element that was there before.
    const spoken = await page.locator('.tree-side [role=status]').elementHandle()
    await search.fill('SRC/deep/b')
    await expect.poll(() => items.allInnerTexts()).toEqual(['src', 'deep', 'B.ts'])
    expect(await spoken?.innerText()).toBe('1 found')
    await search.fill('no such file')
    await expect.poll(() => items.count()).toBe(0)
    await page.getByText('Nothing fits', { exact: true }).waitFor()
    expect(await spoken?.innerText()).toBe('Nothing fits')
    await search.fill('')
    await expect.poll(() => items.allInnerTexts()).toEqual(whole)
    expect(await spoken?.innerText()).toBe('')
    await page.getByRole('button', { name: 'Fold all folders' }).click()
    await expect.poll(() => items.allInnerTexts()).toEqual(['docs', 'src'])

    await page.goto(`${gateway.url}/workspace?show=projects&open=many`)
    await signIn(page, EVE)
    // All folders are folded, except the folder of the open file.
    await items.first().waitFor()
    expect(await page.locator('[role="treeitem"][aria-expanded="true"]').allInnerTexts()).toEqual(['folder-0'])
    expect(await items.count()).toBeLessThan(120)
    await search.fill('file-2999')
    await expect.poll(() => items.allInnerTexts()).toEqual(['folder-999', 'file-2999.txt'])
  })

  test('reaches every file that a search finds, however many, and folds folders meanwhile', async () => {
    const gateway = await startGateway()
    const elements = Array.from({ length: 1_500 }, (_, index) =>
      JSON.stringify({ path: `src/m${index}/index.ts`, content: `export const m = ${index}` }),
    )
    await gateway.load(
      documentLine('project', EVE, '{"id":"p","ref":"p"}') +
        exportLine(EVE, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements }),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p')
    const [tree, items] = [page.getByRole('tree'), page.getByRole('treeitem')]
    const folder = (name: string, isOpen: boolean) =>
      page.locator(`[role="treeitem"][aria-expanded="${isOpen}"]`).getByText(name, { exact: true })
    await items.first().waitFor()
    await page.getByRole('searchbox', { name: 'Find a file' }).fill('index.ts')
    await folder('m0', true).waitFor()
    await tree.focus()
    await page.keyboard.press('End')
    await folder('m1499', false).waitFor()
    await page.keyboard.press('ArrowRight')
    await folder('m1499', true).waitFor()
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key)
    await page.locator('.preview .line', { hasText: 'm = 1499' }).waitFor()
    expect(new URL(page.url()).searchParams.get('file')).toBe('src/m1499/index.ts')
    for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
    await folder('m1499', false).waitFor()
    await folder('m1498', false).click()
    await folder('m1498', true).click()
    await folder('m1498', false).waitFor()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => items.allInnerTexts()).toEqual(['src'])
    // Without the search, the tree is as it was before.
    await page.getByRole('searchbox', { name: 'Find a file' }).fill('')
    await folder('src', true).waitFor()
  })

  test('does not decode a binary file again for each letter of a search', async () => {
    const gateway = await startGateway()
    const elements = [
      { path: 'logo.png', encoding: 'base64', content: PNG },
      { path: 'other.txt', content: 'other' },
    ].map((element) => JSON.stringify(element))
    await gateway.load(
      documentLine('project', EVE, '{"id":"p","ref":"p"}') +
        exportLine(EVE, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements }),
    )
    const page = await (await browser.open(gateway.url)).newPage()
    await page.addInitScript(() => {
      const { atob } = window
      window.decoded = 0
      window.atob = (text) => {
        window.decoded += text.length
        return atob(text)
      }
    })
    const decoded = () => page.evaluate(() => window.decoded)
    await page.goto(`${gateway.url}/workspace?show=projects&open=p&file=logo.png`)
    await signIn(page, EVE)
    await page.locator('.picture img[src]').waitFor()
    await page.locator('.preview', { hasText: '70 B' }).waitFor()
    const before = await decoded()
    expect(before).toBeGreaterThan(0)
    await page.getByRole('searchbox', { name: 'Find a file' }).pressSequentially('other')
    await expect.poll(() => page.getByRole('treeitem').allInnerTexts()).toEqual(['other.txt'])
    expect(await decoded()).toBe(before)
  })

  test('keeps the place in its lists, and fits names that are very long, right-to-left or empty', async () => {
    const gateway = await startGateway()
    const names = [LONG, 'مشروع عربي', '', ...Array.from({ length: 300 }, (_, index) => `Project ${index}`)]
    await gateway.load(
      names
        .map((name, index) =>
          documentLine(
            'project',
            EVE,
            JSON.stringify({ id: `p${index}`, name, description: name, framework: index === 3 ? LONG : 'next' }),
          ),
        )
        .join('') +
        documentLine(
          'template',
          EVE,
          '{"id":"t/1","name":"Starter","files":[{"path":"index.html","content":"<h1>Hello</h1>"}]}',
        ) +
        documentLine('uiLibrary', EVE, '{"id":"lib","name":"Parts","components":[{"name":"Button","props":[]}]}'),
    )
    const page = await open(gateway, '/workspace')
    await page.locator('.item').first().waitFor()
    for (const width of [375, 1_280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await tooWide(page), `the list at ${width}`).toBe(0)
      // A very long framework leaves space for the name.
      const name = page.locator('.item', { hasText: LONG }).locator('.name', { hasText: /^Project 0$/ })
      expect((await name.boundingBox())?.width, `a name at ${width}`).toBeGreaterThan(width / 4)
    }
    await page.getByLabel('Sort by').selectOption('Stored order')
    await page.getByLabel('Search').fill('project')
    await page.getByText('300 of 303').waitFor()
    await page.locator('.items').evaluate((list) => list.scrollTo(0, 4_000))
    await page.locator('.item', { hasText: 'Project 60' }).click()
    await page.getByRole('heading', { name: 'Project 60' }).waitFor()
    await page.goBack()
    await page.getByText('300 of 303').waitFor()
    await expect.poll(() => page.locator('.items').evaluate((list) => list.scrollTop)).toBeGreaterThan(3_000)
    await page.getByLabel('Search').fill('xxxx')
    await page.locator('.item').first().click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    for (const width of [375, 1_280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await tooWide(page), `a project at ${width}`).toBe(0)
    }

    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('searchbox').fill('starter')
    await page.getByRole('option', { name: 'Starter Templates' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.preview .line', { hasText: '<h1>Hello</h1>' }).waitFor()
    expect(new URL(page.url()).searchParams.get('open')).toBe('t/1')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('searchbox').fill('parts')
    await page.getByRole('option', { name: 'Parts UI libraries' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('treeitem', { name: 'Button.json' }).waitFor()
  })

  test('shows the key in place of an invisible name, in lists, titles and the palette, and filters a list by its address', async () => {
    const gateway = await startGateway()
    const named = (kind: 'project' | 'template', id: string, name: string | null) =>
      documentLine(kind, EVE, JSON.stringify({ id, ref: id, name }))
    await gateway.load(
      named('project', 'p-empty', '') +
        named('project', 'p-blank', ' \t ') +
        named('project', 'p-unseen', '\u200b\u00ad') +
        named('project', 'river', null) +
        named('template', 't-none', null) +
        named('template', 't-empty', ''),
    )
    const page = await open(gateway, '/workspace?sort=stored')
    const names = page.locator('.item .name')
    await names.first().waitFor()
    expect(await names.allInnerTexts()).toEqual(['p-empty', 'p-blank', 'p-unseen', 'river'])
    await page.getByRole('link', { name: 'p-empty' }).click()
    await page.getByRole('heading', { level: 1, name: 'p-empty' }).waitFor()
    expect(await page.title()).toBe('p-empty · Workspace Gateway')
    for (const id of ['t-empty', 't-none']) {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('searchbox').fill(id)
      await page.getByRole('option', { name: `${id} Templates` }).click()
      await page.getByRole('heading', { level: 1, name: id }).waitFor()
    }

    await page.goto(`${gateway.url}/workspace`)
    await signIn(page, EVE)
    const filter = page.getByRole('searchbox').first()
    const [items, tab] = [page.locator('.item'), page.locator('.tabs').getByRole('link', { name: 'Projects' })]
    await filter.fill('riv')
    await expect.poll(() => items.count()).toBe(1)
    await tab.click()
    await expect.poll(() => items.count()).toBe(4)
    expect(await filter.inputValue()).toBe('')
    expect(new URL(page.url()).searchParams.has('q')).toBe(false)
    await page.goBack()
    await expect.poll(() => items.count()).toBe(1)
    expect(await filter.inputValue()).toBe('riv')
    // The request stays unanswered.
    await page.route('**/graphql', () => undefined)
    await items.click()
    await page.getByText('Loading …').waitFor({ state: 'attached' })
    expect(await page.locator('.skeleton .bone').first().isVisible()).toBe(true)
  })

  test('neutralises characters of a name that turn the reading direction, and dates are English for every reader', async () => {
    const gateway = await startGateway({ demoEmail: EVE })
    const name = 'gpj.\u202eexe'
    const [shown, id] = ['gpj.\ufffdexe', 'a\u2067b']
    await gateway.load(
      documentLine('project', EVE, JSON.stringify({ id, name, updatedAt: '2020-01-01T00:00:00Z' })) +
        documentLine('template', EVE, JSON.stringify({ id: 't', name })) +
        exportLine(EVE, { r: id, createdAt: '2020-01-01T00:00:00Z', elements: ['{"path":"only-file.txt"}'] }),
    )
    const page = await (await browser.open(gateway.url, { locale: 'de-DE' })).newPage()
    await page.goto(`${gateway.url}/workspace`)
    // As the sentences around it.
    await page.locator('.item time', { hasText: /^\d+ years ago$/ }).waitFor()
    await page.getByRole('link', { name: shown }).click()
    await page.getByRole('heading', { level: 1, name: shown }).waitFor()
    expect(await page.title()).toBe(`${shown} · Workspace Gateway`)
    expect(await page.locator('.crumbs').innerText()).toContain(shown)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('searchbox').fill('gpj')
    await page.getByRole('option', { name: `${shown} Projects · a\ufffdb` }).waitFor()
    await page.getByRole('dialog').getByRole('searchbox').fill('only-file')
    await page.getByRole('option', { name: `only-file.txt ${shown} · only-file.txt` }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${gateway.url}/workspace?show=templates&open=t`)
    await page.getByRole('heading', { level: 1, name: shown }).waitFor()
    await page.goto(`${gateway.url}/?route=GET+%2Fexports`)
    await page.getByRole('combobox', { name: 'reference of a project' }).press('ArrowDown')
    await page.getByRole('listbox').getByRole('option', { name: shown }).waitFor()
  })
})

async function tooWide(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth))
}

declare global {
  interface Window {
    /** The number of decoded characters. */
    decoded: number
  }
}

/** Records each text, other than none, that an element shows from now on. */
async function recordTexts(page: Page, selector: string): Promise<() => Promise<readonly string[]>> {
  await page.evaluate((where) => {
    const seen: string[] = []
    Reflect.set(window, 'texts', seen)
    const one = document.querySelector(where)
    const note = () => {
      const text = one?.textContent ?? ''
      if (text !== '' && text !== seen.at(-1)) seen.push(text)
    }
    if (one) new MutationObserver(note).observe(one, { subtree: true, childList: true, characterData: true })
  }, selector)
  return () => page.evaluate(() => Reflect.get(window, 'texts') as readonly string[])
}
