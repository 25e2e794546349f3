// Tests custom headers in the reference: they are sent, shown in the samples, and not lost while the user types.
import type { Locator, Page, Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn, signOut } from '../../support/browser.ts'
import { shareDemoGateway } from '../../support/command-line.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../../support/workspaces.ts'

/** A person types no faster, and a faster loop only takes processor time. */
const TYPING_MS = 200

describe.skipIf(CHROMIUM === undefined)('a try-out with custom headers', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('sends headers as they are added, changed and removed, as the sample does, and explains which cannot be sent', async () => {
    const { page, projects } = await open(demo.url())
    await tryIt(projects)
    await projects.getByText('Response headers').click()
    const etag = (await projects.locator('.answer-headers').innerText()).match(/etag\s+("\S+")/)?.[1] ?? ''
    expect(etag).not.toBe('')
    await add(page, projects, 'If-None-Match', etag)
    await add(page, projects, 'X-Mine', "it's $HOME")
    const asked = page.waitForRequest(isProjects)
    await page.keyboard.press('Enter')
    expect((await asked).headers()).toMatchObject({
      'if-none-match': etag,
      'x-mine': "it's $HOME",
      authorization: expect.stringMatching(/^Bearer eyJ/),
    })
    await projects.locator('.try .status', { hasText: '304' }).waitFor()
    expect(await projects.locator('.snippet-text').innerText()).toContain(`-H 'X-Mine: it'\\''s $HOME'`)
    await projects.getByRole('textbox', { name: 'Value of header 1' }).fill('"another"')
    await projects.getByRole('button', { name: 'Remove header 2' }).click()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Add a header')
    const again = page.waitForRequest(isProjects)
    await tryIt(projects)
    const sent = (await again).headers()
    expect(sent['if-none-match']).toBe('"another"')
    expect(sent['x-mine']).toBeUndefined()
    expect(await projects.locator('.own-headers summary').innerText()).toBe('Request headers (1)')
    expect(await projects.locator('.snippet-text').innerText()).not.toContain('X-Mine')

    await projects.getByRole('button', { name: 'Remove header 1' }).click()
    for (const [name, value, sentence] of [
      ['Cookie', 'a=b', 'Browsers set Cookie themselves'],
      ['host', 'example.com', 'Browsers set host themselves'],
      ['Content-Length', '1', 'Browsers set Content-Length themselves'],
      ['X-日本', '1', 'A name is made of letters'],
      ['X-Value', '日本', 'a letter beyond Latin-1'],
      ['', 'nameless', 'Give this header a name'],
    ] as const) {
      await add(page, projects, name, value)
      const fault = projects.locator('.own-headers .fault').last()
      expect(await fault.innerText()).toContain(sentence)
      const invalid = await projects.locator('.own-headers input').last().getAttribute('aria-describedby')
      expect(invalid).toBe(await fault.getAttribute('id'))
    }
    await add(page, projects, 'X-Mine', '1')
    const last = page.waitForRequest(isProjects)
    await tryIt(projects)
    const valid = (await last).headers()
    expect(valid).toMatchObject({ 'x-mine': '1' })
    expect(Object.keys(valid).filter((name) => /^(?:cookie|content-length|x-value)$/.test(name))).toEqual([])
    expect(await projects.locator('.snippet-text').innerText()).not.toMatch(/cookie|content-length|x-value/i)
  })

  test("sends a custom token once in place of the page's, and keeps what is typed for the same user only", async () => {
    const { page, projects } = await open(demo.url())
    const paths: string[] = []
    page.on('request', (request) => paths.push(new URL(request.url()).pathname))
    await add(page, projects, 'authorization', 'Bearer not-a-token')
    const asked = page.waitForRequest(isProjects)
    await tryIt(projects)
    expect((await asked).headers().authorization).toBe('Bearer not-a-token')
    await projects.locator('.try .status.bad', { hasText: '401' }).waitFor()
    const sample = projects.locator('.snippet-text')
    expect(await sample.innerText()).toContain("-H 'authorization: Bearer not-a-token'")
    expect(await sample.innerText()).not.toContain('ACCESS_TOKEN')
    // No session is ended because a custom token is refused.
    expect(paths).toEqual(['/projects'])
    // A real token is written like the page's own, so no sample contains it.
    const { authorization = '' } = await headersOfPage(page)
    await projects.getByRole('textbox', { name: 'Value of header 1' }).fill(authorization)
    await tryIt(projects)
    await projects.locator('.try .status.good', { hasText: '200' }).waitFor()
    expect(await sample.innerText()).toContain('Authorization: Bearer $ACCESS_TOKEN')
    expect(await sample.innerText()).not.toMatch(/eyJ/)
    await projects.getByRole('button', { name: 'Remove header 1' }).click()

    const search = page.getByRole('searchbox', { name: 'Search the reference' })
    const headers = projects.locator('.own-headers summary')
    const value = page.getByRole('combobox', { name: 'r reference of a project' })
    async function comeBack(): Promise<readonly string[]> {
      await page.getByRole('link', { name: 'Workspace', exact: true }).click()
      await page.getByRole('heading', { name: /Workspace|Nothing here yet/ }).waitFor()
      await page.getByRole('link', { name: 'Reference', exact: true }).click()
      await headers.waitFor()
      return [await search.inputValue(), await headers.innerText(), await value.inputValue()]
    }
    await add(page, projects, 'X-Mine', '1')
    await value.fill('river-dash')
    await page.keyboard.press('Escape')
    await search.fill('project')
    expect(await comeBack()).toEqual(['project', 'Request headers (1)', 'river-dash'])
    await signOut(page)
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await signIn(page, 'somebody.else@example.com')
    expect(await comeBack()).toEqual(['', 'Request headers', ''])
  })

  test('keeps what is typed over token renewals and a search of the reference', async () => {
    const { url, load } = await startGateway({ accessTokenTtlSeconds: 2, clock: Date.now, demoEmail: ANA })
    await load(SMALL_WORLD)
    const { page, projects } = await open(url)
    let renewals = 0
    page.on('response', (response) => {
      if (response.url().endsWith('/token')) renewals += 1
    })
    await add(page, projects, 'X-Mine', '')
    let typed = ''
    while (renewals < 2) {
      await page.keyboard.press('x', { delay: TYPING_MS })
      typed += 'x'
    }
    const value = projects.getByRole('textbox', { name: 'Value of header 1' })
    expect(await value.inputValue()).toBe(typed)
    expect(await value.evaluate((element) => element === document.activeElement)).toBe(true)
    const search = page.getByRole('searchbox', { name: 'Search the reference' })
    await search.fill('logout')
    await projects.waitFor({ state: 'detached' })
    await search.fill('')
    await projects.locator('.own-headers summary').click()
    expect(await value.inputValue()).toBe(typed)
    expect(await search.evaluate((element) => element === document.activeElement)).toBe(false)
  })

  async function open(url: string): Promise<{ readonly page: Page; readonly projects: Locator }> {
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/docs`)
    const projects = page.locator('#getProjects')
    await projects.getByRole('button', { name: 'Try it' }).waitFor()
    await projects.locator('.own-headers summary').click()
    return { page, projects }
  }
})

/** Adds a header and leaves the focus in its value. */
async function add(page: Page, operation: Locator, name: string, value: string): Promise<void> {
  await operation.getByRole('button', { name: 'Add a header' }).click()
  await page.keyboard.insertText(name)
  await operation.locator('.own-headers input').last().focus()
  await page.keyboard.insertText(value)
}

async function tryIt(operation: Locator): Promise<void> {
  await operation.getByRole('button', { name: 'Try it' }).click()
}

function isProjects(request: Request): boolean {
  return new URL(request.url()).pathname === '/projects'
}

/** The headers of a request without custom headers. */
async function headersOfPage(page: Page): Promise<Readonly<Record<string, string>>> {
  const asked = page.waitForRequest((request) => new URL(request.url()).pathname === '/templates')
  await tryIt(page.locator('#getTemplates'))
  return (await asked).headers()
}
