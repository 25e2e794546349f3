// Tests GraphiQL in a browser: it answers as the signed-in user, builds queries by checkboxes, and reports its answers.
import { readFileSync } from 'node:fs'
import { getIntrospectionQuery } from 'graphql'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('GraphiQL', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('under a base path it answers as the signed-in user, runs by keyboard, and shows the schema', async () => {
    const { url, load } = await startGateway({ basePath: '/v1', demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/v1/graphql`)
    await page.locator('.graphiql-query-editor .CodeMirror').first().click()
    await page.keyboard.press('Control+Enter')
    await page.locator('.graphiql-response', { hasText: ANA }).waitFor()
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page
      .getByText('The workspace of the signed-in user')
      .or(page.getByText('Query', { exact: true }))
      .first()
      .waitFor()
    for (const name of ['REST ↔ GraphQL', 'Workspace', 'Reference']) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
    }
    await page.getByRole('button', { name: /^Try it.*GET .projects/ }).click()
    await page.locator('.try .status.good').waitFor()
  })

  test('the description of a field gives way to what is typed; the introspection query is answered like any other', async () => {
    const page = await open()
    const field = page.locator('.graphiql-query-editor .cm-property', { hasText: 'email' })
    await field.click()
    const description = page.locator('.CodeMirror-info', { hasText: 'The canonical email' })
    await description.waitFor()
    for (let typed = 0; typed < 100 && (await description.count()) > 0; typed += 1)
      await page.keyboard.type('x', { delay: 50 })
    expect(await description.count()).toBe(0)

    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(getIntrospectionQuery())
    // GraphiQL detects the name of the operation a moment later.
    await page.getByText('IntrospectionQuery', { exact: true }).first().waitFor()
    await page.keyboard.press('Control+Enter')
    const pane = page.locator('.graphiql-response')
    await pane.locator('.line', { hasText: '"__schema"' }).waitFor()
    expect(await pane.locator('.status').allInnerTexts()).toEqual([expect.stringMatching(/^200/)])
  })

  test('on a gateway that keeps its schema to itself the first query is answered, and the schema is asked for once', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA, graphqlValues: { introspection: 'nobody' } })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    let askedForSchema = 0
    page.on('request', (request) => {
      if (request.postData()?.includes('__schema')) askedForSchema += 1
    })
    await page.goto(`${url}/graphql`)
    await page.locator('.graphiql-response', { hasText: ANA }).waitFor()
    expect(await page.locator('.graphiql-response').innerText()).not.toContain('introspection')
    await page.getByRole('button', { name: 'Show Query builder' }).click()
    await page.locator('.query-builder', { hasText: 'The schema could not be read' }).waitFor()
    expect(askedForSchema).toBe(1)
  })

  test("F19: a page of less than 900 kB answers every example from the user's data, with status, time, size and headers", async () => {
    const page = await open()
    await expectLessThan900kB(page)
    const seen: string[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('/graphql')) seen.push(response.request().postDataJSON()?.operationName ?? '')
    })
    for (const [title, answer] of [
      ['Projects', 'Quillmoor'],
      ['Page', 'totalCount'],
      ['LatestExport', 'byteLength'],
    ] as const) {
      await page.getByRole('button', { name: title, exact: true }).click()
      await page.locator('.graphiql-response', { hasText: answer }).waitFor()
      expect(await page.locator('.cockpit').innerText()).toMatch(/200[\s\S]*ms[\s\S]*k?B/)
    }
    await page
      .locator('.graphiql-variable-editor, [aria-label=Variables]', { hasText: 'roastery-site' })
      .first()
      .waitFor()
    await page.getByText('Response headers').click()
    await page.locator('.answer-headers', { hasText: 'content-type' }).waitFor()
    // A mutation waits for the user, and its answer shows no usable token.
    await page.getByRole('button', { name: 'SignIn', exact: true }).click()
    await page.locator('.graphiql-query-editor', { hasText: 'mutation SignIn' }).waitFor()
    expect(seen).not.toContain('SignIn')
    await page.getByRole('button', { name: /Execute query/ }).click()
    await page.locator('.graphiql-response', { hasText: 'refreshToken' }).waitFor()
    expect(await page.locator('.graphiql-response').innerText()).not.toMatch(/wgr_[\w-]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+/)
  })

  test('the first example is answered even if the code that shows the answer arrives last', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    // Only the editor that shows answers loads this file.
    await page.route('**/assets/info-addon-*.js', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(`${demo.url()}/graphql`)
    await page.locator('.graphiql-query-editor .cm-property').first().waitFor()
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer', { hasText: 'Mutation' }).waitFor()
    expect(await page.locator('.graphiql-response .CodeMirror').count()).toBe(0)
    release()
    await page.locator('.graphiql-response', { hasText: 'Quillmoor' }).waitFor()
  })

  test('F19: the query builder writes what is checked by keyboard, and follows what is typed', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Show Query builder' }).click()
    const builder = page.getByRole('region', { name: 'Query builder' })
    await builder.getByRole('checkbox', { name: 'framework String', exact: true }).first().focus()
    await page.keyboard.press('Space')
    await expect.poll(() => query(page)).not.toContain('framework')
    await builder.getByRole('checkbox', { name: /^templates / }).focus()
    await page.keyboard.press('Space')
    await expect.poll(() => query(page)).toMatch(/# Your projects.*\n[\s\S]*templates \{\n\s+id\n\s+\}/)
    await builder.getByRole('button', { name: 'Inside latestExport' }).last().waitFor()
    await builder.getByRole('checkbox', { name: 'latestExport Export', exact: true }).last().check()
    await expect.poll(() => query(page)).toContain('query Projects($ref: String!)')
    await page.locator('.graphiql-query-editor .CodeMirror').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{ me {')
    await builder.getByText('The query has a mistake').waitFor()
    await page.keyboard.insertText(' email')
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{ me { id } }')
    await expect
      .poll(() => builder.getByRole('checkbox', { name: 'id ID!', exact: true }).first().isChecked())
      .toBe(true)
    await page.keyboard.press('Control+Enter')
    await page.locator('.graphiql-response', { hasText: '"id"' }).waitFor()
  })

  test('F19: a query is shared by a link without a token, copied as code, and sent with custom headers', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Copy link' }).click()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(new URL(link).search).toBe('')
    expect(link).not.toMatch(/eyJ|wgr_/)
    expect(new URLSearchParams(new URL(link).hash.slice(1)).get('query')).toContain('query Projects')
    await page.getByRole('button', { name: 'Code', exact: true }).click()
    await page.locator('.cockpit .snippet', { hasText: 'curl -s' }).waitFor()
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    await page.locator('.graphiql-editor:not(.hidden) > .CodeMirror').last().click()
    await page.keyboard.insertText('{"authorization":"Bearer not-a-token","x-mine":"1"}')
    const sending = page.waitForRequest((request) => request.headers()['x-mine'] === '1')
    await page.getByRole('button', { name: /Execute query/ }).click()
    expect((await sending).headers().authorization).toBe('Bearer not-a-token')
    await page.locator('.cockpit .status.bad', { hasText: '401' }).waitFor()
  })

  test('F18: a schema that could not be read is read once the gateway is back', async () => {
    const page = await open()
    await page.locator('.graphiql-response', { hasText: 'Quillmoor' }).waitFor()
    await page.getByRole('link', { name: 'REST ↔ GraphQL' }).click()
    await page.locator('.verdict').waitFor()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'GraphiQL', exact: true }).click()
    await page.locator('.graphiql-response', { hasText: 'The schema could not be read' }).waitFor()
    await page.context().setOffline(false)
    await page.locator('.graphiql-response', { hasText: 'Quillmoor' }).waitFor()
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer', { hasText: 'Mutation' }).waitFor()
  })

  test('F19: its dialogs have a visible close button; it shows no shortcut that opens the palette of these pages', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    const field = page.locator('.graphiql-doc-explorer').getByRole('combobox')
    await expect.poll(() => field.getAttribute('placeholder')).toBe('Search')
    // GraphiQL draws the field anew, so the placeholder must be corrected anew.
    await page.locator('.graphiql-doc-explorer').getByRole('link', { name: 'Query', exact: true }).click()
    await page.locator('.graphiql-doc-explorer-title', { hasText: 'Query' }).waitFor()
    await expect.poll(() => field.getAttribute('placeholder')).toBe('Search')
    const dialog = page.getByRole('dialog')
    for (const name of ['Open settings dialog', 'Open short keys dialog']) {
      await page.getByRole('button', { name }).click()
      if (name === 'Open short keys dialog') await expectNoPaletteShortcut(dialog)
      const close = dialog.locator('.graphiql-dialog-close')
      const cross = await close.locator('svg').boundingBox()
      expect({ name, width: cross?.width, height: cross?.height }).toEqual({ name, width: 14, height: 14 })
      await close.click()
      await dialog.waitFor({ state: 'detached' })
    }
  })

  test('F11: an answer has the tools of every text, and each tab keeps its own answer', async () => {
    const page = await open()
    const pane = page.locator('.graphiql-response')
    await pane.getByRole('button', { name: 'Copy all' }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain('Quillmoor')
    const downloading = page.waitForEvent('download')
    await pane.getByRole('button', { name: 'Download' }).click()
    expect(readFileSync(await (await downloading).path(), 'utf8')).toBe(copied)
    await pane.getByRole('button', { name: 'Fold all' }).click()
    await pane.locator('.folded').first().waitFor()
    await pane.getByRole('button', { name: 'Wrap lines' }).click()
    await pane.locator('.lines.wrapped').waitFor()
    await page.getByRole('button', { name: 'Page', exact: true }).click()
    await pane.getByText('totalCount').waitFor()
    await pane
      .getByRole('status')
      .filter({ hasText: /^Answered 200 in/ })
      .waitFor({ state: 'attached' })
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await page.getByRole('button', { name: 'Projects', exact: true }).click()
    await pane.locator('.line', { hasText: 'Quillmoor' }).waitFor()
    expect(sent).toEqual([])
  })

  test('an answer from something other than the gateway, and a header that cannot be sent, are reported in a sentence', async () => {
    const page = await open()
    const pane = page.locator('.graphiql-response')
    const html = { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }
    await page.route('**/graphql', (route) => route.fulfill(html))
    await page.getByRole('button', { name: /Execute query/ }).click()
    await pane.getByText('The answer is not JSON: something else may have answered, such as a proxy.').waitFor()
    await pane.locator('.status.bad', { hasText: '502' }).waitFor()
    await pane.locator('.line', { hasText: '<h1>Bad gateway</h1>' }).waitFor()
    await page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click()
    await pane.locator('.line', { hasText: 'The schema could not be read. The answer is not JSON' }).waitFor()
    expect(await pane.innerText()).not.toMatch(/Unexpected|"errors"|"stack"|\.js:/)
    await pane.getByRole('status').filter({ hasText: 'The schema could not be read.' }).waitFor({ state: 'attached' })
    await page.unroute('**/graphql')
    const json = { status: 502, contentType: 'application/json', body: '{"message":"upstream is gone"}' }
    await page.route('**/graphql', (route) => route.fulfill(json))
    await page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click()
    await pane.locator('.line', { hasText: 'The schema could not be read. {"message":"upstream is gone"}' }).waitFor()
    await page.unroute('**/graphql')
    await page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click()
    await page.getByRole('button', { name: /Execute query/ }).click()
    await pane.getByText('Quillmoor').first().waitFor()
    await page.getByRole('button', { name: 'Variables', exact: true }).click()
    await run('{ "n": ')
    await pane.locator('.line', { hasText: /^1The variables are not a JSON object.$/ }).waitFor()
    await pane.locator('.status.bad', { hasText: 'no answer' }).waitFor()

    await run('{}')
    await page.getByRole('button', { name: 'Headers', exact: true }).click()
    for (const [headers, said] of [
      ['{"x mine":"1"}', 'The header "x mine" cannot be sent. A name is made of letters'],
      ['{"x-mine":"漢"}', 'The header "x-mine" cannot be sent. A header cannot hold a line break'],
    ] as const) {
      await run(headers)
      await pane.locator('.line', { hasText: said }).waitFor()
      // It is not reported as a lost connection.
      expect(await page.locator('body').innerText()).not.toContain('does not answer')
    }

    /** Writes it into the editor below the query, and runs. */
    async function run(text: string): Promise<void> {
      await page.locator('.graphiql-editor:not(.hidden) > .CodeMirror').last().click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(text)
      await page.getByRole('button', { name: /Execute query/ }).click()
    }
  })

  async function open(): Promise<Page> {
    const context = await browser.open(demo.url(), { permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.addInitScript(() => {
      const tasks: number[] = []
      Reflect.set(window, 'longTasks', tasks)
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
        type: 'longtask',
      })
    })
    await page.goto(`${demo.url()}/graphql`)
    await page.locator('.graphiql-response', { hasText: 'Quillmoor' }).waitFor()
    return page
  }
})

/** Prints its long tasks, too. */
async function expectLessThan900kB(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)))
  const { bytes, tasks } = await page.evaluate(() => {
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const tasks: readonly number[] = Reflect.get(window, 'longTasks')
    return { bytes: entries.reduce((sum, { transferSize }) => sum + transferSize, 0), tasks }
  })
  console.log(`GraphiQL: ${(bytes / 1_000).toFixed(0)} kB, tasks over 50 ms: ${tasks.join(', ') || 'none'}`)
  expect(bytes).toBeLessThan(900_000)
}

async function expectNoPaletteShortcut(dialog: Locator): Promise<void> {
  const keys = dialog.getByRole('row')
  await keys.filter({ hasText: 'Search in editor' }).waitFor()
  await keys.filter({ hasText: 'Execute query' }).waitFor()
  const shown = await dialog.innerText()
  expect(shown).not.toContain('documentation')
  expect(shown).not.toMatch(/Ctrl\s*\+\s*K\b/)
}

async function query(page: Page): Promise<string> {
  const lines = await page.locator('.graphiql-query-editor .CodeMirror-line').allInnerTexts()
  return lines.join('\n').replaceAll('\u200b', '')
}
