// Tests large answers, exports and documents: the page shows them whole and leaves the work on them to a worker.
import type { Page, Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const LARGE = 1_000_000
const EXPORTS = `/?${new URLSearchParams({ route: 'GET /exports', r: 'p' })}`
const LINES = 'a line of it\n'.repeat(LARGE / 10)

interface Passes {
  parsed: number
  searched: number
}

interface Opened {
  readonly page: Page
  readonly url: string
  /** The number of workers started for tasks. */
  readonly workers: () => number
}

describe.skipIf(CHROMIUM === undefined)('a large text', () => {
  const browser = shareBrowser()

  test('is parsed, searched for tokens and compared in workers, even while the user types', async () => {
    const { page, url, workers } = await open()
    await page.goto(url + EXPORTS)
    await waitForAgreement(page)
    await page.locator('.side.rest .line').first().waitFor()
    await page.locator('.side.graphql .line').first().waitFor()
    expect(await passes(page)).toEqual({ parsed: 0, searched: 0 })
    // One worker for each answer, one for the comparison.
    expect(workers()).toBe(3)
    await page.getByLabel('GraphQL query').press('Control+End')
    await page.keyboard.type('# five')
    expect(await page.getByLabel('GraphQL query').inputValue()).toContain('# five')
    expect(await passes(page)).toEqual({ parsed: 0, searched: 0 })
  })

  test.each(['the page', 'a person'])('is aborted after its route is left (requested by %s)', async (who) => {
    const { page, url } = await open()
    const [asked, ended]: [string[], string[]] = [[], []]
    const isOfExport = (request: Request) =>
      request.url().includes('/exports?') || request.postData()?.includes('"variables":{"r":"p"}') === true
    page.on('requestfailed', (request) => {
      if (isOfExport(request)) ended.push(new URL(request.url()).pathname)
    })
    await page.goto(who === 'the page' ? 'about:blank' : url)
    if (who === 'a person') await waitForAgreement(page)
    // These requests are never answered.
    await page.route(/\/(?:exports\?.*|graphql)$/, async (route) => {
      if (isOfExport(route.request())) asked.push(new URL(route.request().url()).pathname)
      else await route.continue()
    })
    if (who === 'the page') await page.goto(url + EXPORTS)
    else await page.locator('.routes button', { hasText: '/exports' }).click()
    await expect.poll(() => asked.toSorted()).toEqual(['/exports', '/graphql'])
    await page.locator('.routes button', { hasText: '/templates' }).click()
    await expect.poll(() => ended.toSorted()).toEqual(['/exports', '/graphql'])
  })

  test('is opened and compared in workers: exports, their files, a document', async () => {
    const { page, url, workers } = await open()
    await page.goto(`${url}/workspace?show=projects&open=p`)
    await page.locator('.preview .line', { hasText: 'a line of it' }).first().waitFor()
    await page.getByRole('link', { name: 'Compare with the one before' }).click()
    await page.getByText('2 files differ, 0 the same').waitFor()
    await page.getByText('too different to be shown line by line').waitFor()
    await page.getByRole('button', { name: 'half.txt' }).click()
    await page.locator('.diff .plus', { hasText: 'needle' }).waitFor()
    // One worker each for the files, the older export's answer, the list of differences, and two compared files.
    expect(workers()).toBe(5)
    await page.getByRole('button', { name: 'a.txt' }).click()
    await page.getByText('too different to be shown line by line').waitFor()
    await page.getByRole('link', { name: 'Document', exact: true }).click()
    await page.locator('.framed .line', { hasText: '"Pixel"' }).waitFor()
    expect((await passes(page)).parsed).toBe(0)
    await page.goto(`${url}/workspace?show=templates&open=t`)
    await page.locator('.preview .line', { hasText: 'a line of it' }).first().waitFor()
    expect((await passes(page)).parsed).toBe(0)
  })

  test('is shown by GraphiQL whole and unchanged, and can be searched', async () => {
    const { page, url } = await open()
    const query = '{ me { project(ref: "p") { data latestExport { data } } } }'
    await page.goto(`${url}/graphql#${new URLSearchParams({ query })}`)
    const answer = page.getByRole('group', { name: 'Response' })
    await answer.locator('.line', { hasText: '12345678901234567890' }).waitFor()
    await page.locator('.graphiql-response .lines').press('Control+f')
    await page.getByRole('textbox', { name: 'Find in Response' }).fill('needle')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    expect(await passes(page)).toEqual({ parsed: 0, searched: 0 })
  })

  test('is processed in the page if the worker does not load', async () => {
    const { page, url } = await open()
    await page.route('**/tasks-worker-*.js', (route) => route.abort())
    await page.goto(url + EXPORTS)
    await waitForAgreement(page)
    expect((await passes(page)).parsed).toBe(2)
  })

  test('is shown even if one string has many megabytes: binary files of an export, JSON in lines', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    const film = JSON.stringify({ path: 'film.mp4', encoding: 'base64', content: 'A'.repeat(6_000_000) })
    await load(
      documentLine('project', ANA, '{"id":"p","ref":"p"}') +
        documentLine('template', ANA, `{"id":"t","text":"${'A'.repeat(10_500_000)}"}`) +
        exportLine(ANA, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements: [film] }),
    )
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace?show=projects&open=p`)
    await page.getByRole('treeitem', { name: 'film.mp4' }).waitFor()
    await page.locator('.preview', { hasText: '4.5 MB' }).waitFor()
    await page.goto(`${url}/workspace?show=templates&open=t`)
    await page.locator('.line', { hasText: '"id": "t",' }).waitFor()
  })

  /** Opens a page for a user whose exports have two megabytes. */
  async function open(): Promise<Opened> {
    const { url, load } = await startGateway({ demoEmail: ANA })
    const file = (path: string, content: string) => JSON.stringify({ path, content })
    const exported = (createdAt: string, elements: readonly string[]) =>
      exportLine(ANA, { r: 'p', createdAt, elements })
    const half = LINES.slice(0, LARGE / 4)
    await load(
      documentLine('project', ANA, '{"id":"p","ref":"p","name":"Pixel","big":12345678901234567890}') +
        documentLine('template', ANA, `{"id":"t","name":"T","files":[${file('a.txt', LINES)}]}`) +
        exported('2026-01-01T00:00:00Z', [file('a.txt', `${LINES}more`), file('half.txt', half)]) +
        exported('2026-02-01T00:00:00Z', [file('a.txt', LINES), file('half.txt', `${half}needle`)]),
    )
    const page = await (await browser.open(url)).newPage()
    await page.addInitScript(countPasses, LARGE)
    let count = 0
    page.on('worker', (worker) => {
      if (worker.url().includes('/tasks-worker-')) count += 1
    })
    return { page, url, workers: () => count }
  }
})

/** Runs in the page and counts how often the page itself parses or searches a large text. */
function countPasses(large: number): void {
  const passes: Passes = { parsed: 0, searched: 0 }
  Reflect.set(window, 'passes', passes)
  const { parse } = JSON
  JSON.parse = (text, ...others) => {
    if (String(text).length > large) passes.parsed += 1
    return parse(text, ...others)
  }
  const { replace } = String.prototype
  String.prototype.replace = function (this: string, ...args: unknown[]) {
    if (this.length > large && String(args[0]).includes('wgr_')) passes.searched += 1
    return Reflect.apply(replace, this, args)
  }
}

function passes(page: Page): Promise<Passes> {
  return page.evaluate<Passes>(() => Reflect.get(window, 'passes'))
}
