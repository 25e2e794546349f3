// Tests that the palette (⌘K) finds files in the newest export of every project and in the open one, and opens them.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { documentLine, exportLine } from '../../support/workspaces.ts'

const EVE = 'eve@example.com'

describe.skipIf(CHROMIUM === undefined)('the palette', () => {
  const browser = shareBrowser()

  test('shows the key of the platform that opens it, and leaves other keys to the editor and to the browser', async () => {
    const { url, load } = await startGateway({ demoEmail: EVE })
    await load(documentLine('project', EVE, '{"id":"p","ref":"p"}'))
    const page = await (await browser.open(url)).newPage()
    for (const [platform, key] of [
      ['MacIntel', '⌘K'],
      ['iPad', '⌘K'],
      ['Win32', 'Ctrl K'],
      ['Linux x86_64', 'Ctrl K'],
    ] as const) {
      await page.addInitScript((value) => {
        Object.defineProperty(navigator, 'platform', { value, configurable: true })
      }, platform)
      await page.goto(`${url}/nosuchpage`)
      expect(await page.locator('.palette-button .kbd').innerText(), platform).toBe(key)
    }
    await page.evaluate(() => {
      addEventListener('keydown', (event) => {
        if (event.key.toLowerCase() === 'k') document.documentElement.dataset.left = String(!event.defaultPrevented)
      })
    })
    const dialog = page.getByRole('dialog', { name: 'Go to' })
    for (const keys of ['Control+Shift+K', 'Control+Alt+K', 'Meta+Shift+K']) {
      await page.keyboard.press(keys)
      await page.locator('html[data-left=true]').waitFor({ state: 'attached' })
      // The palette's key would close an open palette, so this proves that it was closed.
      await page.keyboard.press('Control+k')
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.evaluate(() => delete document.documentElement.dataset.left)
    }
  })

  test('opens on a Mac over GraphiQL’s documentation, returns the focus, and leaves Ctrl+K to the editor', async () => {
    const { url, load } = await startGateway({ demoEmail: EVE })
    await load(documentLine('project', EVE, '{"id":"p","ref":"p"}'))
    const page = await (await browser.open(url)).newPage()
    await page.addInitScript(() => Object.defineProperty(navigator, 'platform', { value: 'MacIntel' }))
    await page.goto(`${url}/graphql`)
    await page.locator('.graphiql-response', { hasText: EVE }).waitFor()
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer-search input').waitFor()
    const editor = page.locator('.graphiql-query-editor')
    await editor.locator('.CodeMirror').click()
    await page.keyboard.press('Meta+k')
    await page.getByRole('dialog', { name: 'Go to' }).getByRole('searchbox').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await editor.locator('textarea:focus').waitFor({ state: 'attached' })
    await page.keyboard.press('Meta+a')
    await page.keyboard.insertText('query Mine { me { id } }')
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+k')
    await expect.poll(() => editor.locator('.CodeMirror-line').allInnerTexts()).toEqual(['\u200b'])
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('finds a file of any project or of the open export by its name or path, and opens it by keyboard', async () => {
    const page = await openLight()
    await find(page, 'button.tsx')
    const option = page.getByRole('option', { name: 'Button.tsx' })
    expect((await option.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      'Button.tsx One · src/parts/Button.tsx',
      'Button.tsx Two · other/Button.tsx',
    ])
    await page.getByRole('dialog').getByRole('searchbox').fill('two button')
    await expect.poll(() => option.count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.locator('.preview .line', { hasText: "two's button" }).waitFor()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      show: 'projects',
      open: 'two',
      tab: 'files',
      file: 'other/Button.tsx',
    })
    const chosen = page.locator('[role="treeitem"][aria-selected="true"]')
    expect(await chosen.innerText()).toContain('Button.tsx')
    // A name that would be displayed backwards is shown with a replacement character.
    await find(page, 'gpj')
    await page.getByRole('option', { name: 'gpj.\ufffdexe.txt' }).waitFor()
    // Pages and projects come first, so files do not push them out.
    await page.getByRole('dialog').getByRole('searchbox').fill('two')
    await expect.poll(() => page.getByRole('option').first().innerText()).toContain('Two')

    // A file that only the open export has; back returns to the previous file.
    await page.goto(`${new URL(page.url()).origin}/workspace?show=projects&open=one&tab=exports`)
    await page.locator('.exports a').nth(1).click()
    await page.getByRole('treeitem', { name: 'README.md' }).click()
    await page.locator('.preview .line', { hasText: 'Old' }).waitFor()
    await find(page, 'gone.ts')
    await page.getByRole('option', { name: 'Gone.ts' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.preview .line', { hasText: 'gone since' }).waitFor()
    // The file's folder was folded, and is unfolded now.
    await expect.poll(() => chosen.allInnerTexts()).toEqual([expect.stringContaining('Gone.ts')])
    await page.goBack()
    await page.locator('.preview .line', { hasText: 'Old' }).waitFor()
    await expect.poll(() => chosen.allInnerTexts()).toEqual([expect.stringContaining('README.md')])
    // On another page that export is no longer searched.
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.locator('.operation').first().waitFor()
    await find(page, 'gone.ts')
    await page.getByText('Nothing fits').waitFor()
  })

  test('says that the workspace could not be read, requests paths once the gateway is back, and again only after changes', async () => {
    const page = await openLight()
    await page.route('**/graphql', (route) => route.abort())
    await page.keyboard.press('Control+k')
    const dialog = page.getByRole('dialog')
    await dialog
      .getByRole('status')
      .getByText('Your workspace could not be read. The gateway does not answer.')
      .waitFor()
    await dialog.getByRole('option', { name: 'Workspace' }).waitFor()
    await page.unroute('**/graphql')
    await dialog.getByRole('option', { name: 'Two Projects' }).waitFor()
    await expect.poll(() => dialog.getByRole('status').innerText()).toBe('')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    let asked = 0
    let isBroken = true
    await page.route('**/graphql', (route) => {
      if (!route.request().postData()?.includes('elements { path }')) return route.continue()
      asked += 1
      return isBroken ? route.fulfill({ status: 503, json: { errors: [{ message: 'Too busy.' }] } }) : route.continue()
    })
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Two' }).waitFor()
    expect(asked).toBe(0)
    await page.getByRole('dialog').getByRole('searchbox').fill('button')
    await page.getByRole('status').getByText('Files could not be looked through. Too busy.').waitFor()
    isBroken = false
    for (let times = 0; times < 2; times += 1) {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await find(page, 'button')
      await page.getByRole('option', { name: 'Button.tsx' }).first().waitFor()
    }
    expect(asked).toBe(2)
  })

  test('opens the first match if Enter comes before the places, or directly after the last letter', async () => {
    const page = await openLight()
    let held = Promise.withResolvers<void>()
    await page.route('**/graphql', async (route) => {
      await held.promise
      await route.continue()
    })
    await find(page, 'two')
    await page.keyboard.press('Enter')
    await page.getByText('Reading the workspace …').waitFor()
    held.resolve()
    await page.getByRole('heading', { name: 'Two' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // A user who goes on typing has changed their mind, even if the text ends up the same.
    held = Promise.withResolvers<void>()
    await find(page, 'one')
    await page.keyboard.press('Enter')
    for (const words of ['one more', 'one']) await page.getByRole('dialog').getByRole('searchbox').fill(words)
    held.resolve()
    await page.getByRole('option', { name: 'One Projects' }).waitFor()
    await page.getByRole('heading', { name: 'Two' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // The text and Enter come in one task, before anything is drawn.
    await find(page, '')
    await page.getByRole('option', { name: 'One Projects' }).waitFor()
    await page.evaluate(() => {
      const input = document.activeElement
      document.execCommand('insertText', false, 'one')
      for (const type of ['keydown', 'keyup']) {
        input?.dispatchEvent(new KeyboardEvent(type, { key: 'Enter', bubbles: true, cancelable: true }))
      }
    })
    await page.getByRole('heading', { name: 'One' }).waitFor()
  })

  test('finds files of templates and components of libraries, and requests again only what changed', async () => {
    const template = (id: string, file: string, content = 'text') =>
      documentLine('template', EVE, JSON.stringify({ id, name: id, files: [{ path: file, content }] }))
    const library = JSON.stringify({ id: 7, name: 'Parts', components: [{ name: 'Slider', props: {} }] })
    const gateway = await start(
      template('Long', 'pages/dashboard.tsx', 'x'.repeat(900_000)) +
        Array.from({ length: 24 }, (_, index) => template(`T${index}`, `pages/dashboard${index}.tsx`)).join('') +
        documentLine('template', EVE, '{"id":"none","name":"Without files"}') +
        documentLine('uiLibrary', EVE, library),
    )
    const page = await openAt(gateway, '/workspace')
    await page.locator('.item').first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(/\b(templates|uiLibraries)\(/.exec(request.postData() ?? '')?.[1] ?? ''))
    await find(page, 'dashboard23')
    const option = page.getByRole('dialog').getByRole('option')
    await expect.poll(() => option.allInnerTexts()).toEqual([expect.stringContaining('T23 · pages/dashboard23.tsx')])
    await page.keyboard.press('Enter')
    await page.locator('.file-path', { hasText: 'pages/dashboard23.tsx' }).waitFor()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      show: 'templates',
      open: 'T23',
      file: 'pages/dashboard23.tsx',
    })
    const ofDocuments = () => asked.filter((list) => list !== '')
    // The long template and the one after it are requested singly, the others in pages; the last request is for the
    // template that is shown.
    expect(ofDocuments()).toEqual(['templates', 'templates', 'templates', 'templates', 'uiLibraries', 'templates'])
    // An open file is found only once, although it is found in the search of all files too.
    await find(page, 'slider')
    await page.getByRole('option', { name: 'Slider.json' }).waitFor()
    await page.getByRole('dialog').getByRole('searchbox').fill('dashboard23')
    await page.getByRole('option', { name: 'Slider.json' }).waitFor({ state: 'detached' })
    expect(await option.count()).toBe(1)
    await page.getByRole('dialog').getByRole('searchbox').fill('slider')
    await page.getByRole('option', { name: 'Slider.json' }).click()
    await page.locator('.file-path', { hasText: 'Slider/Slider.json' }).waitFor()
    expect(new URL(page.url()).search).toContain('show=libraries&open=7&file=')
    expect(ofDocuments().slice(6)).toEqual(['uiLibraries'])
    await gateway.load(template('T23', 'pages/renamed.tsx'))
    await find(page, 'renamed')
    await page.getByRole('option', { name: 'renamed.tsx' }).waitFor()
    await page.getByRole('dialog').getByRole('searchbox').fill('dashboard23')
    await page.getByText('Nothing fits').waitFor()
    expect(ofDocuments().slice(7)).not.toContain('uiLibraries')
  })

  test('says that it does not search everything', async () => {
    const long = (id: number) =>
      documentLine(
        'template',
        EVE,
        JSON.stringify({ id, name: `L${id}`, files: [{ path: `${id}.tsx`, content: 'x'.repeat(2_000_000) }] }),
      )
    const page = await open('/workspace', [1, 2, 3].map(long).join(''))
    await page.locator('.item').first().waitFor()
    await find(page, 'tsx')
    await page.getByRole('option', { name: '2.tsx' }).waitFor()
    await page.getByText('There are more files than are looked through here.').waitFor()
    expect(await page.getByRole('option', { name: '3.tsx' }).count()).toBe(0)
    const files = Array.from({ length: 60_001 }, () => '{"path":"same.tsx"}')
    const other = await openLight(exportLine(EVE, { r: 'one', createdAt: '2026-03-01T00:00:00Z', elements: files }))
    await find(other, 'tsx')
    await other.getByText('There are more files than are looked through here.').waitFor()
    // A template beyond the limit is found once it is open.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: /Templates/ }).click()
    await page.getByRole('link', { name: 'L3' }).click()
    await page.locator('.file-path', { hasText: '3.tsx' }).waitFor()
    await find(page, 'tsx')
    await page.getByRole('option', { name: '3.tsx' }).waitFor()
  })

  test('searches thousands of files and many projects, draws only a few, and has an exact name first', async () => {
    const files = Array.from({ length: 6_000 }, (_, index) =>
      JSON.stringify({ path: `src/part${index % 100}/Component${index}.tsx`, content: 'x' }),
    )
    const page = await open(
      '/workspace',
      Array.from({ length: 50 }, (_, index) =>
        documentLine('project', EVE, JSON.stringify({ id: index, ref: `m${index}`, name: `Many of ${index}` })),
      ).join('') +
        documentLine('project', EVE, '{"id":"many","ref":"many","name":"Many"}') +
        exportLine(EVE, { r: 'many', createdAt: '2026-03-01T00:00:00Z', elements: files }),
    )
    await page.locator('.item').first().waitFor()
    await find(page, 'many')
    await expect
      .poll(() => page.getByRole('dialog').getByRole('option').first().innerText())
      .toMatch(/^Many\s+Projects/)
    await page.getByRole('dialog').getByRole('searchbox').fill('component5999')
    await page.getByRole('option', { name: 'Component5999.tsx' }).waitFor()
    await page.getByRole('dialog').getByRole('searchbox').fill('component')
    await expect.poll(() => page.getByRole('dialog').getByRole('option').count()).toBe(20)
    await page.getByRole('dialog').getByRole('searchbox').fill('part7 component3007')
    await page.getByRole('option', { name: 'Component3007.tsx' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.preview .line').first().waitFor()
    const chosen = page.locator('[role="treeitem"][aria-selected="true"]')
    await chosen.getByText('Component3007.tsx').waitFor()
    // From there it opens another file, far away in the same tree.
    await find(page, 'component5998')
    await page.getByRole('option', { name: 'Component5998.tsx' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.file-path', { hasText: 'Component5998.tsx' }).waitFor()
    await chosen.getByText('Component5998.tsx').waitFor()
    expect(await chosen.evaluate((row) => row.getBoundingClientRect().bottom < innerHeight)).toBe(true)
  })

  async function open(address: string, more = ''): Promise<Page> {
    return openAt(await start(more), address)
  }

  /** Opens a page that reads nothing itself: the palette is on every page. */
  async function openLight(more = ''): Promise<Page> {
    const page = await open('/nosuchpage', more)
    await page.locator('.account .email').waitFor()
    return page
  }

  async function openAt({ url }: { readonly url: string }, address: string): Promise<Page> {
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + address)
    return page
  }

  async function start(more: string): Promise<TestGateway> {
    const gateway = await startGateway({ demoEmail: EVE })
    const file = (path: string, content: string) => JSON.stringify({ path, content })
    const exported = (r: string, createdAt: string, ...elements: string[]) =>
      exportLine(EVE, { r, createdAt, elements })
    await gateway.load(
      documentLine('project', EVE, '{"id":"one","ref":"one","name":"One"}') +
        documentLine('project', EVE, '{"id":"none","ref":"none","name":"Without an export"}') +
        documentLine('project', EVE, '{"id":"two","ref":"two","name":"Two"}') +
        exported('one', '2026-01-01T00:00:00Z', file('README.md', '# Old'), file('src/Gone.ts', '// gone since')) +
        exported(
          'one',
          '2026-02-01T00:00:00Z',
          file('README.md', '# New'),
          file('src/parts/Button.tsx', "// one's button"),
          file('gpj.\u202eexe.txt', 'text'),
          JSON.stringify({ name: 'no path' }),
        ) +
        exported('two', '2026-02-01T00:00:00Z', file('other/Button.tsx', "// two's button")) +
        more,
    )
    return gateway
  }
})

async function find(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('searchbox').fill(words)
  await page.getByRole('status').getByText('Looking through').waitFor({ state: 'detached' })
}
