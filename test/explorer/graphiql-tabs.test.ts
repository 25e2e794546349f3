// Tests what GraphiQL stores and what it opens with: tabs of their user, each with an answer, and links to queries.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { LATEST_EXPORT } from '../../src/explorer/graphiql/examples.ts'
import { CHROMIUM, type SharedBrowser, shareBrowser, signIn, signOut } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const MINE = 'query Mine { me { id } }'
/** The editor of variables or of headers, whichever is open. */
const SHOWN_TOOL = '.graphiql-editor-tool .graphiql-editor:not(.hidden)'
/** Milliseconds after the last letter: before and after GraphiQL passes on and stores what was written. */
const RESTS = [0, 50, 200, 400]

describe.skipIf(CHROMIUM === undefined)('GraphiQL’s tabs', () => {
  const browser = shareBrowser()

  test('F19: the examples and headers are those of the signed-in user, whoever was signed in before', async () => {
    const page = await openAsAna(browser)
    await expectLatestExport(page, 'site', 'new.html')
    await write(page, MINE)
    await page.keyboard.press('Control+Enter')
    await answer(page, '"id"')
    await keptIn(page, 'Mine')
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await write(page, '{"x-mine":"of Ana"}', SHOWN_TOOL)
    await expect.poll(() => headers(page)).toContain('of Ana')

    await signOut(page)
    await signIn(page, BEN)
    await answer(page, BEN)
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await expect.poll(() => headers(page)).toBe('')
    await page.getByRole('button', { name: 'Variables', exact: true }).click()
    expect(await tabs(page)).toEqual(['Projects', 'Page', 'LatestExport', 'SignIn'])
    await expectLatestExport(page, 'secret', 'ben.txt')
    await openTab(page, 'SignIn')
    await expect.poll(() => variables(page)).toContain(BEN)
    await page.getByRole('button', { name: 'Show History' }).click()
    const history = page.locator('.graphiql-history')
    await history.getByRole('button', { name: 'Projects' }).first().waitFor()
    expect(await history.innerText()).not.toContain('Mine')

    await signOut(page)
    await signIn(page, ANA)
    await expect.poll(() => tabs(page)).toEqual(['Projects', 'Page', 'Mine', 'SignIn'])
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await expect.poll(() => headers(page)).toContain('of Ana')
  })

  test('F19: if the data have changed since the last visit, the example is about the current data', async () => {
    const [first, second] = [await startGateway({ demoEmail: ANA }), await startGateway({ demoEmail: ANA })]
    await first.load(SMALL_WORLD)
    await second.load(
      [
        documentLine('project', ANA, '{"id":"p9","ref":"harbour","name":"Harbour"}'),
        exportLine(ANA, { r: 'harbour', createdAt: '2026-03-01T00:00:00Z', elements: ['{"path":"quay.html"}'] }),
        ...Array.from({ length: 300 }, (_, index) => documentLine('project', ANA, `{"id":"many${index}"}`)),
        exportLine(ANA, { r: 'many299', createdAt: '2026-03-01T00:00:00Z', elements: ['{"path":"last.html"}'] }),
      ].join(''),
    )
    const before = await (await browser.open(first.url)).newPage()
    await before.goto(`${first.url}/graphql`)
    await answer(before, ANA)
    await expectLatestExport(before, 'site', 'new.html')
    await keptIn(before, '"activeTabIndex":2')
    const { origins } = await before.context().storageState()
    // In a person's browser the address stays the same; here the port changes, so the storage moves with it.
    const storageState = { cookies: [], origins: origins.map((one) => ({ ...one, origin: second.url })) }
    const page = await (await browser.open(second.url, { storageState })).newPage()
    const answers: Promise<string>[] = []
    page.on('response', (response) => {
      if (response.request().method() === 'POST' && response.url().endsWith('/graphql')) answers.push(response.text())
    })
    await page.goto(`${second.url}/graphql`)
    await answer(page, 'quay.html')
    expect(await tabs(page)).toEqual(['Projects', 'Page', 'LatestExport', 'SignIn'])
    await expect.poll(() => variables(page)).toContain('harbour')
    // The editor does not wait for all projects, and yet knows what a tab names.
    expect((await Promise.all(answers)).join()).not.toContain('many299')
    await writeVariables(page, '{ "ref": "many299" }')
    await keptIn(page, 'many299')
    await page.reload()
    await answer(page, 'last.html')
  })

  test('a new tab is empty and requests nothing', async () => {
    const page = await openAsAna(browser)
    await answer(page, ANA)
    const asked: string[] = []
    page.on('request', (request) => {
      const body = request.postData() ?? ''
      if (request.url().endsWith('/graphql') && /query (?:Projects|Mine)/.test(body)) asked.push(body)
    })
    await page.getByRole('button', { name: 'New tab' }).click()
    await expect.poll(() => tabs(page)).toHaveLength(5)
    await page.getByText('Not run yet. Control and Enter runs the query.').waitFor()
    // CodeMirror draws this character for an empty line.
    expect(await query(page)).toBe('\u200b')
    await keptIn(page, '"activeTabIndex":4')
    await page.reload()
    await signIn(page, ANA)
    await page.getByText('Not run yet. Control and Enter runs the query.').waitFor()
    expect(await tabs(page)).toHaveLength(5)
    expect(await query(page)).toBe('\u200b')
    await write(page, MINE)
    await page.keyboard.press('Control+Enter')
    await answer(page, '"id"')
    expect(asked).toEqual([expect.stringContaining('Mine')])

    // An answer that comes while another tab is open is that of the tab that asked.
    await keptIn(page, 'Mine')
    await openTab(page, 'Projects')
    await answer(page, 'framework')
    await openTab(page, 'Mine')
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/graphql', async (route) => {
      await held
      await route.continue()
    })
    await write(page, 'query Slow { me { email } }')
    await keptIn(page, 'Slow')
    await page.keyboard.press('Control+Enter')
    await page.getByText('running …').waitFor()
    await openTab(page, 'Projects')
    await answer(page, 'framework')
    const answered = page.waitForResponse('**/graphql')
    release()
    await answered
    await openTab(page, 'Slow')
    await answer(page, ANA)
    await openTab(page, 'Projects')
    await answer(page, 'framework')
  })

  test('custom headers survive a visit to another page, belong to one tab, and are not stored', async () => {
    const page = await openAsAna(browser)
    const editor = page.locator('.graphiql-editor:not(.hidden) > .CodeMirror').last()
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await editor.click()
    await page.keyboard.insertText('{"x-mine":"of the first"}')
    await openTab(page, 'Page')
    await page.getByRole('button', { name: 'Variables', exact: true }).click()
    await writeVariables(page, '{"first":2,"other":12345678901234567890}')
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await editor.click()
    await page.keyboard.insertText('{"x-mine":"of the second"}')
    // In each of the three editors the keys rewrite all of them, as the button does.
    await page.keyboard.press('Control+Shift+P')
    const prettified = '{\n  "x-mine": "of the second"\n}'
    await expect.poll(() => headers(page)).toBe(prettified)
    expect(await query(page)).toContain('# A page of projects')
    await page.getByRole('button', { name: 'Merge fragments' }).click()
    await page.locator('.toast', { hasText: 'the comments of the query would be lost' }).waitFor()
    expect(await query(page)).toContain('# A page of projects')
    await page.getByRole('button', { name: 'Variables', exact: true }).click()
    await page.getByRole('button', { name: 'Prettify query' }).click()
    expect(await variables(page)).toContain('12345678901234567890')
    const sent = page.waitForRequest((request) => request.postData()?.includes('query Page') ?? false)
    await page.getByRole('button', { name: 'Execute query' }).click()
    expect((await sent).postData()).toContain('12345678901234567890')
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await openTab(page, 'Projects')
    await expect.poll(() => headers(page)).toBe('{"x-mine":"of the first"}')
    await openTab(page, 'Page')
    await expect.poll(() => headers(page)).toBe(prettified)
    async function lookElsewhere(): Promise<void> {
      await page.getByRole('link', { name: 'Workspace', exact: true }).click()
      await page.locator('.item').first().waitFor()
      await page.getByRole('link', { name: 'GraphiQL', exact: true }).click()
      await page.getByRole('button', { name: 'Headers', exact: true }).click()
    }
    await lookElsewhere()
    await expect.poll(() => headers(page)).toBe(prettified)
    await lookElsewhere()
    await expect.poll(() => headers(page)).toBe(prettified)
    await openTab(page, 'Projects')
    await expect.poll(() => headers(page)).toBe('{"x-mine":"of the first"}')
    await openTab(page, 'LatestExport')
    await expect.poll(() => headers(page)).toBe('')
    await openTab(page, 'Projects')
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    expect(kept).not.toContain('x-mine')
  })

  test('the history keeps headers until the page is left; none are stored, and stored ones are removed', async () => {
    const page = await openAsAna(browser)
    const editor = page.locator('.graphiql-editor:not(.hidden) > .CodeMirror').last()
    const history = page.locator('.graphiql-history')
    const kept = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await editor.click()
    await page.keyboard.insertText('{"x-key":"hunter2-secret"}')
    await write(page, MINE)
    await keptIn(page, 'Mine')
    await page.keyboard.press('Control+Enter')
    await answer(page, '"id"')
    await page.getByRole('button', { name: 'Show History' }).click()
    const mine = history.getByRole('listitem').filter({ hasText: 'Mine' })
    await mine.getByRole('button', { name: 'Add favorite' }).click()
    await mine.getByRole('button', { name: 'Remove favorite' }).waitFor()
    expect(await kept()).toContain('graphiql:favorites')
    expect(await kept()).not.toContain('hunter2')
    await history.getByRole('button', { name: 'Projects', exact: true }).click()
    await expect.poll(() => editor.innerText()).not.toContain('hunter2')
    await history.getByRole('button', { name: 'Mine', exact: true }).click()
    await expect.poll(() => editor.innerText()).toContain('hunter2')

    // An earlier version stored headers like this, also for a user who is not signed in now.
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((name) => name.endsWith(':graphiql:queries')) ?? ''
      const queries = [{ query: '{ me { email } }', headers: '{"x-key":"hunter2-old"}', label: 'Old' }]
      localStorage.setItem(key, JSON.stringify({ queries }))
      localStorage.setItem(key.replace('@', '-of-somebody@'), JSON.stringify({ queries }))
    })
    expect((await kept()).split('hunter2-old')).toHaveLength(3)
    await page.reload()
    await signIn(page, ANA)
    await page.getByRole('button', { name: 'Show History' }).click()
    await history.getByRole('button', { name: 'Old', exact: true }).waitFor()
    // The tab runs again when it opens, so the history may list the query besides the favorite.
    await mine.first().waitFor()
    expect(await kept()).not.toContain('hunter2')

    await page.getByRole('button', { name: 'Open settings dialog' }).click()
    await page.getByRole('button', { name: 'Clear data' }).click()
    await page.locator('.toast', { hasText: 'were removed from this browser' }).waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(await tabs(page)).toEqual(['Projects', 'Page', 'LatestExport', 'SignIn'])
    // The first example runs, which stores the history again.
    await answer(page, ANA)
    await page.getByRole('button', { name: 'Show History' }).click()
    await history.getByRole('button', { name: 'Projects', exact: true }).waitFor()
    expect(await history.innerText()).not.toMatch(/Mine|Old/)
    expect(await kept()).not.toContain('Mine')
  })

  test('F19: after a reload a tab has what was written just before it, and its answer, but a mutation waits to be run', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/graphql`)
    await answer(page, ANA)
    await write(page, 'query Mine($ref: String!) { me { latestExport(ref: $ref) { digest } } }')
    await writeVariables(page, '{ "ref": "old" }')
    await keptIn(page, '\\"old\\"')
    const before = await tabs(page)
    await write(page, 'query Mine($ref: String!) { me { latestExport(ref: $ref) { createdAt } } }')
    await writeVariables(page, '{ "ref": "site" }')
    await page.reload()
    await answer(page, 'createdAt')
    expect(await query(page)).toContain('createdAt')
    expect(await variables(page)).toContain('"site"')
    expect(await tabs(page)).toEqual(before)
    await write(page, 'query Mine { me { email } } #\twgr_0123456789abcdef0123456789abcdef')
    await page.reload()
    await answer(page, ANA)
    expect(await query(page)).toContain('email } }')
    await page.locator('.graphiql-query-editor', { hasText: 'wgr_0123…' }).waitFor()
    expect(await tabs(page)).toEqual(before)
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('wgr_01234')

    await write(page, `mutation Change { login(email: "${ANA}") { refreshToken } }`)
    await keptIn(page, 'Change')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    await page.reload()
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer', { hasText: 'Mutation' }).waitFor()
    await openTab(page, 'Page')
    await answer(page, 'totalCount')
    await openTab(page, 'Change')
    await page.locator('.graphiql-query-editor', { hasText: 'mutation Change' }).waitFor()
    // A query that is opened after the mutation has run: the mutation would have been sent before.
    await openTab(page, 'LatestExport')
    await answer(page, 'digest')
    expect(sent.filter((body) => body.includes('query LatestExport'))).not.toEqual([])
    await openTab(page, 'Change')
    await page.locator('.graphiql-query-editor', { hasText: 'mutation Change' }).waitFor()
    expect(sent.filter((body) => body.includes('mutation Change'))).toEqual([])
    expect(await page.locator('.graphiql-response').innerText()).not.toContain('refreshToken')
  })

  test("F19: a link to a user's query opens it elsewhere with variables and answer, but without a token", async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const options = { permissions: ['clipboard-read', 'clipboard-write'] }
    const page = await (await browser.open(url, options)).newPage()
    await page.goto(`${url}/graphql`)
    await answer(page, ANA)
    await write(page, 'query Mine($ref: String!) { me { latestExport(ref: $ref) { digest } } }')
    await writeVariables(page, '{ "ref": "site", "token": "wgr_0123456789abcdef0123456789abcdef" }')
    await page.getByRole('button', { name: 'Copy link' }).click()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(decodeURIComponent(link)).toContain('wgr_0123…')
    expect(link).not.toContain('wgr_01234')
    const other = await (await browser.open(url)).newPage()
    await other.goto(link)
    await answer(other, 'digest')
    await expect.poll(() => variables(other)).toContain('"site"')
    expect(await tabs(other)).toEqual(['Mine', 'Projects', 'Page', 'LatestExport', 'SignIn'])
    // What a tab stores holds no token either.
    await keptIn(page, 'wgr_0123…')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('wgr_01234')
  })

  test('a link to one of several operations selects and runs it, in a new window and in an open one, and its tab keeps it', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const options = { permissions: ['clipboard-read', 'clipboard-write'] }
    const page = await (await browser.open(url, options)).newPage()
    await page.goto(`${url}/graphql`)
    await answer(page, ANA)
    await write(page, 'query One { me { id } } query Two { me { email } }')
    await keptIn(page, 'query Two')
    await page.getByRole('button', { name: /Execute query/ }).click()
    await page.getByRole('menuitem', { name: 'Two' }).click()
    await page.locator('.graphiql-tab-active', { hasText: 'Two' }).waitFor()
    await page.getByRole('button', { name: 'Copy link' }).click()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    const other = await (await browser.open(url)).newPage()
    const ran = operationsSent(other, 'query Two')
    await other.goto(link)
    await expect.poll(() => ran).toEqual(['Two'])
    await answer(other, ANA)
    await keptIn(other, '"operationName":"Two"')
    // A tab keeps its operation while another tab is shown, and when the page is opened again.
    await follow(other, 'query Alpha { me { id } } query Beta { me { email } } # with query Two')
    await expect.poll(() => ran).toEqual(['Two', 'Alpha'])
    await other.locator('.graphiql-tab-active', { hasText: 'Alpha' }).waitFor()
    await openTab(other, 'Two')
    await other.getByRole('button', { name: 'Code', exact: true }).click()
    const code = other.locator('.cockpit .snippet')
    await code.filter({ hasText: '"operationName":"Two"' }).waitFor()
    await keptIn(other, '"activeTabIndex":0')
    ran.length = 0
    await other.goto(`${url}/livez`)
    await other.goto(`${url}/graphql`)
    await expect.poll(() => ran).toEqual(['Two'])
    await answer(other, ANA)
    // A tab that is shown for the first time runs an operation of its own.
    await openTab(other, 'Alpha')
    await expect.poll(() => ran).toEqual(['Two', 'Alpha'])
    await answer(other, '"id"')
    expect(await tabs(other)).toEqual(expect.arrayContaining(['Two', 'Alpha']))
    ran.length = 0

    await openTab(other, 'Projects')
    await other.evaluate((to) => location.assign(to), link)
    await expect.poll(() => query(other)).toContain('query Two')
    await other.locator('.graphiql-tab-active', { hasText: 'Two' }).waitFor()
    await other.getByRole('button', { name: 'Code', exact: true }).click()
    await code.filter({ hasText: '"operationName":"Two"' }).waitFor()
    // The page has shown this tab before, so the person decides when it runs again.
    await other.getByRole('button', { name: /Execute query/ }).click()
    await other.getByRole('menuitem', { name: 'Two' }).click()
    await expect.poll(() => ran.length).toBeGreaterThan(0)
    await answer(other, ANA)
    expect(ran).toEqual(['Two'])
  })

  test('a link is opened even if something is written before the page hears of the new address', async () => {
    const page = await openAtRest(browser, await startGateway({ demoEmail: ANA }))
    const before = await tabs(page)
    const editor = page.locator('.graphiql-query-editor .CodeMirror').first()
    const linked = { query: 'query Linked { me { id } }' }
    // The second link has a tab already.
    for (const [link, written] of [
      [linked, 'query Projects { me { email } }'],
      [{ ...linked, operationName: 'Linked' }, 'query Projects { me { email id } }'],
    ] as const) {
      await editor.evaluate(
        (element, [hash, text]) => {
          location.hash = hash
          const codeMirror: { readonly setValue: (text: string) => void } = Reflect.get(element, 'CodeMirror')
          codeMirror.setValue(text)
        },
        [String(new URLSearchParams(link)), written] as const,
      )
      await expect.poll(() => query(page)).toBe(linked.query)
      expect(await tabs(page)).toEqual([...before, 'Linked'])
      await openTab(page, 'Projects')
      await expect.poll(() => query(page)).toBe(written)
    }
  })

  test('a link that names none of its operations runs the first one, also with all of them in one line', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    const ran = operationsSent(page, 'query Beta')
    const query = 'query Alpha { me { id } } query Beta { me { email } }'
    // In a browser without tabs, and beside those of an earlier visit.
    for (const more of ['', ' ']) {
      await page.goto(`${url}/livez`)
      await page.goto(`${url}/graphql#${new URLSearchParams({ query: query + more })}`)
      await expect.poll(() => ran).toEqual(['Alpha'])
      await answer(page, '"id"')
      ran.length = 0
    }
    // What the person chooses is kept over a reload, at the same address.
    await page.getByRole('button', { name: /Execute query/ }).click()
    await page.getByRole('menuitem', { name: 'Beta' }).click()
    await expect.poll(() => ran).toEqual(['Beta'])
    await keptIn(page, '"operationName":"Beta"')
    ran.length = 0
    await page.reload()
    await expect.poll(() => ran).toEqual(['Beta'])
    expect(page.url()).toContain('#query=')
  })

  test('F19: a link is in front until something is written, and then the written query is in front', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    const link = (query: string) => `${url}/graphql#${new URLSearchParams({ query })}`
    await page.goto(link('query Shared { me { id } }'))
    await answer(page, '"id"')
    await page.reload()
    await answer(page, '"id"')
    expect(await query(page)).toBe('query Shared { me { id } }')
    await write(page, 'query Edited { me { email } }')
    await keptIn(page, 'Edited')
    expect(page.url()).toBe(`${url}/graphql`)
    await page.reload()
    await answer(page, ANA)
    expect(await query(page)).toBe('query Edited { me { email } }')
    expect((await tabs(page)).filter((name) => ['Shared', 'Edited'].includes(name))).toEqual(['Edited'])
    // Follows another link, and then the first one again, in the same window.
    for (const name of ['Other', 'Shared']) {
      await page.evaluate((to) => location.assign(to), link(`query ${name} { me { id } }`))
      await expect.poll(() => query(page)).toBe(`query ${name} { me { id } }`)
      await answer(page, '"id"')
      await keptIn(page, name)
    }
    expect(await tabs(page)).toEqual(expect.arrayContaining(['Shared', 'Edited', 'Other']))
  })

  test('F19: two windows keep the tabs that were written in each; a window that was only opened overwrites nothing', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const open = async (page: Page) => {
      await page.goto(`${url}/graphql`)
      await page.locator('.graphiql-response .line').first().waitFor()
    }
    const [first, second] = [await context.newPage(), await context.newPage()]
    await first.clock.install()
    await open(first)
    await open(second)
    await write(second, 'query Newer { me { id } }')
    await keptIn(second, 'Newer')
    await first.clock.runFor(1_200)
    await first.goto(`${url}/livez`)
    await open(first)
    expect(await query(first)).toBe('query Newer { me { id } }')

    await write(first, 'query First { me { id } }')
    await keptIn(first, 'First')
    await write(second, 'query Second { me { id } }')
    await keptIn(second, 'Second')
    await first.reload()
    await answer(first, '"id"')
    expect((await tabs(first))[0]).toBe('First')
    // A window that was only opened does not count as the last one written in, so a third one has the tabs of the second.
    await first.clock.runFor(2_000)
    const third = await context.newPage()
    await open(third)
    expect((await tabs(third))[0]).toBe('Second')
  })

  test('a query that is changed and changed back is stored as it was last written, and its close button names its tab', async () => {
    const page = await openAtRest(browser, await startGateway({ demoEmail: ANA }))
    for (const name of ['First', 'Second', 'First']) {
      await write(page, `query ${name} { me { id } }`)
      await page.clock.runFor(2_000)
      await page.getByRole('button', { name: `Close Tab ${name}`, exact: true }).waitFor()
    }
    await page.reload()
    await expect.poll(() => query(page)).toBe('query First { me { id } }')
    await page.getByRole('button', { name: 'Close Tab First', exact: true }).click()
    await expect.poll(() => tabs(page)).toEqual(['Page', 'LatestExport', 'SignIn'])
  })

  test('a closed tab is opened again with all that was written in it, until the page is left', async () => {
    const page = await openAtRest(browser, await startGateway({ demoEmail: ANA }))
    await openTab(page, 'SignIn')
    await write(page, 'query Mine($n: Int) { me { projects(first: $n) { name } } }')
    await writeVariables(page, '{"n":3}')
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await write(page, '{"x-mine":"of Ana"}', SHOWN_TOOL)
    await page.clock.runFor(2_000)
    await openTab(page, 'Page')
    const shown = await query(page)

    await closeTab(page, 'Mine')
    const notice = page.locator('.toast', { hasText: 'Closed the tab Mine' })
    await notice.waitFor()
    expect(await tabs(page)).toEqual(['Projects', 'Page', 'LatestExport'])
    // The tab that is shown stays, with what is written in it.
    await closeTab(page, 'LatestExport')
    await expect.poll(() => tabs(page)).toEqual(['Projects', 'Page'])
    expect(await query(page)).toBe(shown)
    await notice.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => tabs(page)).toEqual(['Projects', 'Page', 'Mine'])
    await expect.poll(() => query(page)).toContain('projects(first: $n)')
    expect(
      await page.locator('.graphiql-query-editor textarea').evaluate((one) => one === document.activeElement),
    ).toBe(true)
    await expect.poll(() => headers(page)).toContain('of Ana')
    await page.getByRole('button', { name: 'Variables', exact: true }).click()
    await expect.poll(() => variables(page)).toContain('{"n":3}')
    await notice.waitFor({ state: 'detached' })

    // The tab that is shown is closed: the one before it is shown, and it comes back in its place.
    await openTab(page, 'Projects')
    await closeTab(page, 'Projects')
    await expect.poll(() => query(page)).toBe(shown)
    await page.locator('.toast', { hasText: 'Closed the tab Projects' }).getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => tabs(page)).toEqual(['Projects', 'Page', 'Mine'])
    await page.clock.runFor(2_000)
    await page.reload()
    await expect.poll(() => tabs(page)).toEqual(['Projects', 'Page', 'Mine'])

    await closeTab(page, 'Mine')
    await notice.waitFor()
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await notice.waitFor({ state: 'detached' })
  })

  test('undo brings back what was in this tab, never the query of another one', async () => {
    const page = await openAtRest(browser, await startGateway({ demoEmail: ANA }))
    const before = await query(page)
    const undo = async (text: string) => {
      await page.locator('.graphiql-query-editor .CodeMirror').click()
      await page.keyboard.press('Control+z')
      await page.clock.runFor(2_000)
      await expect.poll(() => query(page)).toBe(text)
    }
    await write(page, 'query Mine { me { id } }')
    await page.clock.runFor(2_000)
    await openTab(page, 'Page')
    const other = '# A page of projects. Pass endCursor as "after" to get the next one.'
    await expect.poll(() => query(page)).toBe(other)
    await undo(other)
    expect(await tabs(page)).toEqual(['Mine', 'Page', 'LatestExport', 'SignIn'])
    await openTab(page, 'Mine')
    await expect.poll(() => query(page)).toContain('Mine')
    await undo(before)
    expect(await tabs(page)).toEqual(['Projects', 'Page', 'LatestExport', 'SignIn'])
  })

  test('what was written before the user opens another page is in its tab on the way back', async () => {
    const page = await openAtRest(browser, await startGateway({ demoEmail: ANA }))
    const before = await tabs(page)
    const lookElsewhere = async () => {
      await page.getByRole('link', { name: 'Workspace', exact: true }).click()
      await page.locator('.item').first().waitFor()
    }
    for (const restedMs of RESTS) {
      const written = `query Projects { me { email } } # ${restedMs} ms`
      await write(page, written)
      await writeVariables(page, `{ "a": "${restedMs} ms" }`)
      await page.clock.runFor(restedMs)
      await lookElsewhere()
      await page.getByRole('link', { name: 'GraphiQL', exact: true }).click()
      for (const laterMs of [0, 2_000]) {
        await page.clock.runFor(laterMs)
        await expect.poll(() => query(page)).toBe(written)
        expect(await variables(page)).toContain(`"${restedMs} ms"`)
        expect(await tabs(page), written).toEqual(before)
      }
      await page.reload()
      await expect.poll(() => query(page)).toBe(written)
      expect(await tabs(page), written).toEqual(before)
    }
    // Even if the browser's storage is full.
    await page.evaluate(() => {
      for (const storage of [localStorage, sessionStorage]) {
        for (let length = 2 ** 23; length > 0; length = Math.floor(length / 2)) {
          try {
            storage.setItem(`room ${length}`, 'x'.repeat(length))
          } catch {}
        }
      }
    })
    const long = `query Projects { me { id } } # ${'long '.repeat(200)}`
    await write(page, long)
    await lookElsewhere()
    await page.getByRole('link', { name: 'GraphiQL', exact: true }).click()
    await expect.poll(() => query(page)).toBe(long)
    expect(await tabs(page)).toEqual(before)
  })

  test('a link gets its own tab however soon and often it is opened; what was written stays in its tab, with headers', async () => {
    const page = await openAtRest(browser, await startGateway({ demoEmail: ANA }))
    const opened = [...(await tabs(page))]
    for (const restedMs of RESTS) {
      const [written, linked] = [`query Projects { me { email } } # ${restedMs} ms`, linkedAfter(restedMs)]
      await write(page, written)
      await page.clock.runFor(restedMs)
      await follow(page, linked)
      await expect.poll(() => query(page)).toBe(linked)
      opened.push(`Linked${restedMs}`)
      for (const open of [async () => undefined, () => page.clock.runFor(2_000), () => page.reload()]) {
        await open()
        await expect.poll(() => query(page)).toBe(linked)
        expect(await tabs(page), linked).toEqual(opened)
      }
      await openTab(page, 'Projects')
      await expect.poll(() => query(page)).toBe(written)
      await page.clock.runFor(2_000)
    }

    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await write(page, '{ "x-note": "mine" }', SHOWN_TOOL)
    for (const restedMs of [0, 50, 0, 50]) {
      await follow(page, linkedAfter(restedMs))
      await expect.poll(() => query(page)).toBe(linkedAfter(restedMs))
    }
    await page.goBack()
    await expect.poll(() => query(page)).toBe(linkedAfter(0))
    expect(await tabs(page)).toEqual(opened)
    await openTab(page, 'Projects')
    await page.locator('.graphiql-editor-tool', { hasText: 'x-note' }).waitFor()
  })

  test('a page adds no tab, left before its editors are loaded or not, and a link adds one, however often visited', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.clock.install({ time: 0 })
    const seen: (readonly string[])[] = []
    const visit = async (link: Readonly<Record<string, string>>) => {
      await page.goto(`${url}/livez`)
      await page.goto(`${url}/graphql#${new URLSearchParams(link)}`)
      await page.locator('.graphiql-tab-button').first().waitFor()
      await page.clock.runFor(2_000)
      seen.push(await tabs(page))
    }
    await page.route(/codemirror/, () => undefined)
    for (const _visit of [1, 2, 3]) await visit({})
    expect(seen).toEqual(Array(3).fill(['Projects', 'Page', 'LatestExport', 'SignIn']))
    await page.unroute(/codemirror/)
    seen.length = 0
    const withToken = { query: `query Linked { me { id } }\n#\twgr_0123456789abcdef0123456789abcdef`, variables: '' }
    const ofSomebodyElse = { query: LATEST_EXPORT, variables: '{"ref":"not-mine"}' }
    for (const link of [{}, withToken, withToken, ofSomebodyElse, ofSomebodyElse, {}, {}]) await visit(link)
    expect(seen.map(({ length }) => length)).toEqual([4, 5, 5, 6, 6, 6, 6])
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('wgr_01234')
  })
})

/** Records the operation of each request whose query contains the text. */
function operationsSent(page: Page, text: string): string[] {
  const names: string[] = []
  page.on('request', (request) => {
    const { query, operationName } = (request.postDataJSON() ?? {}) as { query?: string; operationName?: string }
    if (query?.includes(text)) names.push(operationName ?? '')
  })
  return names
}

/** Opens GraphiQL in a new browser and waits for the answer of the first example. */
async function openAsAna(browser: SharedBrowser): Promise<Page> {
  const { url, load } = await startGateway()
  await load(SMALL_WORLD)
  const page = await (await browser.open(url)).newPage()
  await page.goto(`${url}/graphql`)
  await signIn(page, ANA)
  await answer(page, ANA)
  return page
}

async function expectLatestExport(page: Page, ref: string, file: string): Promise<void> {
  await openTab(page, 'LatestExport')
  await answer(page, file)
  expect(await variables(page)).toContain(`"${ref}"`)
}

async function answer(page: Page, text: string): Promise<void> {
  await page.locator('.graphiql-response', { hasText: text }).waitFor()
}

async function write(page: Page, text: string, within = '.graphiql-query-editor'): Promise<void> {
  await page.locator(`${within} .CodeMirror`).first().click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

function writeVariables(page: Page, text: string): Promise<void> {
  return write(page, text, '.graphiql-editor-tool')
}

/** Waits until the text is stored: GraphiQL writes its state a moment after a change. */
async function keptIn(page: Page, text: string): Promise<void> {
  await expect
    .poll(() => page.evaluate(() => Object.entries(localStorage).find(([key]) => key.endsWith(':tabState'))?.[1] ?? ''))
    .toContain(text)
}

async function openTab(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tabs').getByRole('button', { name, exact: true }).click()
}

/** The button of a tab that is not shown appears under the pointer. */
async function closeTab(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tab', { hasText: name }).hover()
  await page.getByRole('button', { name: `Close Tab ${name}`, exact: true }).click()
}

function tabs(page: Page): Promise<readonly string[]> {
  return page.locator('.graphiql-tab-button').allInnerTexts()
}

/** The headers of the tab, whose editor must be open. */
function headers(page: Page): Promise<string> {
  return page
    .locator(`${SHOWN_TOOL} .CodeMirror`)
    .evaluate((node) => (Reflect.get(node, 'CodeMirror') as { getValue(): string }).getValue())
}

function query(page: Page): Promise<string> {
  return page.locator('.graphiql-query-editor .CodeMirror-line').first().innerText()
}

function variables(page: Page): Promise<string> {
  return page.locator('.graphiql-editor-tool .CodeMirror-code').first().innerText()
}

/** Opens GraphiQL, waits until it has stored its first state, and stops the clock. */
async function openAtRest(browser: SharedBrowser, { url, load }: TestGateway): Promise<Page> {
  await load(SMALL_WORLD)
  const page = await (await browser.open(url)).newPage()
  await page.clock.install({ time: 0 })
  await page.goto(`${url}/graphql`)
  await answer(page, ANA)
  await page.clock.pauseAt(60_000)
  return page
}

function linkedAfter(restedMs: number): string {
  return `query Linked${restedMs} { me { id } }`
}

/** Opens a link to a query in the same window. */
async function follow(page: Page, query: string): Promise<void> {
  await page.evaluate(
    (hash) => {
      location.hash = hash
    },
    String(new URLSearchParams({ query })),
  )
}
