// Tests what would make a user distrust the pages: lost input, wrong verdicts, silence, blank pages.
import type { Page, Request } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn, signOut, waitForAgreement } from '../support/browser.ts'
import { serve, shareDemoGateway } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

/** A person types no faster, and a faster loop only takes processor time. */
const TYPING_MS = 200

describe.skipIf(CHROMIUM === undefined)('trust in the pages', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('the first visit requests each side once, and a theme change requests nothing and keeps the place', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const paths: string[] = []
    page.on('request', (request) => paths.push(new URL(request.url()).pathname))
    await page.goto(demo.url())
    await waitForAgreement(page)
    expect(paths.filter((path) => path === '/projects')).toHaveLength(1)
    expect(paths.filter((path) => path === '/graphql')).toHaveLength(1)
    await page.evaluate(() => scrollTo(0, 200))
    const before = paths.length
    await page.getByLabel('Dark theme').check()
    await page.locator('html[data-theme=dark]').waitFor()
    await page.getByLabel('System theme').check()
    await page.locator('html[data-theme=light]').waitFor()
    expect(paths.slice(before)).toEqual([])
    expect(await page.evaluate(() => scrollY)).toBe(200)
  })

  test('typed text survives the renewals of a token', async () => {
    const { url, load } = await startGateway({ accessTokenTtlSeconds: 2, clock: Date.now, demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    let renewals = 0
    page.on('response', (response) => {
      if (response.url().endsWith('/token')) renewals += 1
    })
    await page.goto(url)
    await waitForAgreement(page)
    const editor = queryEditor(page)
    await editor.fill('')
    let typed = ''
    while (renewals < 2) {
      await editor.press('x', { delay: TYPING_MS })
      typed += 'x'
    }
    expect(await editor.inputValue()).toBe(typed)
    expect(await editor.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  test('a verdict waits for both sides of one run and goes when the request changes, and fields can be emptied', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(`${demo.url()}/?route=GET+%2Fexports`)
    await waitForAgreement(page, 'same 9 documents')
    const seen = await recordVerdicts(page)
    const reference = page.getByRole('combobox', { name: 'r reference of a project' })
    await reference.fill('river-dashboard')
    await page.locator('.verdict', { hasText: 'Changed since the last run' }).waitFor()
    const held = Promise.withResolvers<void>()
    await page.route('**/graphql', async (route) => {
      await held.promise
      await route.continue()
    })
    await reference.press('Enter')
    await page.locator('.verdict', { hasText: 'Running both sides' }).waitFor()
    await page.locator('.rest .lines', { hasText: 'river' }).waitFor()
    expect(await page.locator('.verdict').getAttribute('class')).toBe('verdict')
    held.resolve()
    await waitForAgreement(page, 'same 8 documents')
    // All of them were recorded, from the first to the last.
    for (const text of ['Changed since the last run', 'Running both sides', 'same 8 documents']) {
      await expect.poll(async () => (await seen()).join('\n')).toContain(text)
    }
    expect((await seen()).filter((text) => /holds|differs|REST answers/.test(text))).toEqual([])
    await page.unroute('**/graphql')

    await reference.press('Control+a')
    await reference.press('Delete')
    await reference.pressSequentially('no-such')
    expect(await reference.inputValue()).toBe('no-such')
    await reference.press('Enter')
    await page.locator('.verdict.refused', { hasText: 'NO_PROJECT' }).waitFor()
    await page.locator('.routes button', { hasText: '/login' }).click()
    const email = page.getByLabel('email whose session to open')
    await email.press('Control+a')
    await email.press('Delete')
    expect(await email.inputValue()).toBe('')
    await email.fill('nobody')
    await email.press('Enter')
    await page.locator('.verdict.refused', { hasText: 'INVALID_EMAIL' }).waitFor()
  })

  test('a query stays for the same user, runs are listed and come back at a click, and both are gone for the next user', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await signIn(page, ANA)
    await waitForAgreement(page)
    await queryEditor(page).fill('{ me { email } }')
    await signOut(page)
    await signIn(page, ANA)
    await queryEditor(page).waitFor()
    expect(await queryEditor(page).inputValue()).toBe('{ me { email } }')
    await page.locator('.routes button', { hasText: '/exports' }).click()
    const reference = page.getByRole('combobox', { name: 'r reference of a project' })
    await reference.fill('no-such')
    await reference.press('Enter')
    await page.locator('.verdict.refused').waitFor()
    await page.locator('.routes button', { hasText: 'POST' }).filter({ hasText: '/token' }).click()
    await page.getByRole('button', { name: 'Run both' }).click()
    await waitForAgreement(page, 'Both sides')
    await page.getByText('History of runs').click()
    const runs = page.locator('.past-runs li')
    expect(await runs.first().innerText()).toMatch(/POST \/token[\s\S]*same[\s\S]*REST 200/)
    expect(await page.locator('.past-runs').innerHTML()).not.toMatch(/eyJ|wgr_/)
    await runs.filter({ hasText: 'no-such' }).getByRole('link').click()
    await page.locator('.verdict.refused', { hasText: 'NO_PROJECT' }).waitFor()
    expect(await reference.inputValue()).toBe('no-such')
    await signOut(page)
    await signIn(page, 'nobody@example.com')
    await page.locator('.verdict.refused', { hasText: 'No workspace' }).waitFor()
    await expect.poll(() => page.locator('.past-runs').innerText()).toContain('(1)')
  })

  test('a query that cannot be compared is no fault, errors are not green, and a run is listed as it was sent', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await queryEditor(page).fill('{ me { projects { name } } }')
    await queryEditor(page).press('Control+Enter')
    const verdict = page.locator('.verdict.incomparable')
    await verdict.waitFor()
    expect(await verdict.innerText()).not.toContain('`')
    await queryEditor(page).fill('{ nothing }')
    await queryEditor(page).press('Control+Enter')
    await page.locator('.verdict.incomparable', { hasText: 'GRAPHQL_VALIDATION_FAILED' }).waitFor()
    expect(await page.locator('.graphql .status').getAttribute('class')).not.toContain('good')
    await queryEditor(page).fill('query($n: Int) { me { projects(first: $n) { data } } }')
    await page.getByLabel('Variables').fill('{"n":2}')
    await queryEditor(page).press('Control+Enter')
    await page.locator('.verdict.different', { hasText: 'REST holds 5 documents, GraphQL 2.' }).waitFor()

    // The query changes before the answers come.
    const held = Promise.withResolvers<void>()
    await page.route('**/projects', async (route) => {
      await held.promise
      await route.continue()
    })
    const sent = '{ me { projects { data } } } # sent'
    await queryEditor(page).fill(sent)
    await queryEditor(page).press('Control+Enter')
    await queryEditor(page).fill('{ me { email } }')
    held.resolve()
    await page.getByText('History of runs (5)').click()
    await page.locator('.past-runs li').first().getByRole('link').click()
    await waitForAgreement(page)
    expect(await queryEditor(page).inputValue()).toBe(sent)
  })

  test('a user without a workspace is told so in sentences, on the first page and in the workspace', async () => {
    const { url, databasePath, databaseUrl } = await startGateway()
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await signIn(page, 'nobody@example.com')
    const refusal = page.locator('.verdict.refused', { hasText: 'No workspace is stored for this email yet' })
    await refusal.getByText('npx workspace-gateway import workspace.ndjson').waitFor()
    // The path of the database is no business of a user of the page.
    await refusal.getByText('With the same --database as the gateway, if it has one.').waitFor()
    const shown = await page.locator('main').innerText()
    for (const secret of [databasePath, databaseUrl]) expect(shown).not.toContain(secret)
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.getByText('workspace-gateway import').waitFor()
  })

  test('a gateway that is lost or hangs is reported, and the requested page appears once it is back', async () => {
    const cwd = makeDirectory()
    const first = await serve([], { cwd })
    const page = await (await browser.open(first.url)).newPage()
    await page.goto(first.url)
    await waitForAgreement(page)
    await first.kill('SIGKILL')
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.getByText('The gateway does not answer; trying again in 3 s').waitFor()
    await page.locator('main').getByRole('heading', { name: 'The gateway does not answer' }).waitFor()
    expect(await page.locator('.account .dot').getAttribute('data-up')).toBe('false')
    const second = await serve(['--port', new URL(first.url).port], { cwd })
    onTestFinished(async () => {
      await second.kill('SIGKILL')
      removeDirectory(cwd)
    })
    await page.getByText('Quillmoor').first().waitFor()
    expect(await page.locator('.banner').count()).toBe(0)
    // The styles of the page were loaded too.
    expect(
      await page
        .locator('.item')
        .first()
        .evaluate((one) => getComputedStyle(one).display),
    ).toBe('grid')

    await page.clock.install()
    second.process.kill('SIGSTOP')
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.clock.runFor(20_000)
    await page.getByText('The gateway does not answer; trying again in 3 s').waitFor()
    second.process.kill('SIGCONT')
    await page.clock.runFor(5_000)
    await page.locator('.operation').first().waitFor()
    await page.locator('.banner').waitFor({ state: 'detached' })
  })

  test('a gateway that hangs at the start is reported, and the pages appear once it goes on', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.clock.install()
    await page.route('**/explorer.json', () => undefined, { times: 1 })
    // By then the entry script waits for the answer.
    await page.goto(demo.url(), { waitUntil: 'domcontentloaded' })
    await page.clock.runFor(15_000)
    await page.getByText('It could not be reached. Trying again in 3 s.').waitFor()
    await page.clock.runFor(5_000)
    await waitForAgreement(page)
  })

  test("a start without the gateway's facts is explained, and continues by itself", async () => {
    const page = await (await browser.open(demo.url(), { colorScheme: 'dark' })).newPage()
    let times = 0
    await page.route('**/explorer.json', (route) => {
      times += 1
      if (times === 1) return route.fulfill({ status: 503, body: '{}' })
      return times === 2 ? route.fulfill({ contentType: 'text/html', body: '<h1>Proxy</h1>' }) : route.continue()
    })
    await page.goto(demo.url())
    await page.getByRole('heading', { name: 'Waiting for the gateway' }).waitFor()
    await page.getByText('It answered 503.').waitFor()
    expect(await page.getByText('does not answer').count()).toBe(0)
    await page.getByText('Something else answered in its place').waitFor()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await waitForAgreement(page)
  })

  test('a window whose code is still on its way says that it loads', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const arrived = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      await arrived.promise
      await route.continue()
    })
    await page.goto(demo.url(), { waitUntil: 'commit' })
    const notice = () =>
      page.evaluate(() => {
        const root = document.getElementById('root')
        const { content, visibility } = root ? getComputedStyle(root, '::before') : { content: '', visibility: '' }
        return `${content} ${visibility}`
      })
    await expect.poll(notice).toBe('"Loading …" visible')
    arrived.resolve()
    await waitForAgreement(page)
    expect(await notice()).toContain('none')
  })

  test('without JavaScript the page shows a notice in view', async () => {
    const page = await (await browser.open(demo.url(), { javaScriptEnabled: false })).newPage()
    await page.goto(demo.url())
    const box = await page.locator('noscript .card').boundingBox()
    expect(box?.y).toBeLessThan(600)
  })

  test('copying works if the browser hides its clipboard', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.goto(demo.url())
    await waitForAgreement(page)
    const button = page.locator('.rest .snippet-head').getByRole('button', { name: 'Copy' })
    const width = (await button.boundingBox())?.width
    await button.click()
    await page.locator('.toast', { hasText: 'Copied' }).waitFor()
    expect((await button.boundingBox())?.width).toBe(width)
    await queryEditor(page).fill('')
    await queryEditor(page).press('Control+v')
    expect(await queryEditor(page).inputValue()).toContain('curl -s')
  })

  test('sessions are listed, keep the focus while they are read again, and end one by one, quickly, or all at once', async () => {
    const { url, load, login, get } = await startGateway()
    await load(SMALL_WORLD)
    const other = await login(ANA)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/sessions`)
    await signIn(page, ANA)
    const rows = page.locator('.sessions li')
    await expect.poll(() => rows.count()).toBe(2)
    expect(await rows.filter({ hasText: 'this one' }).count()).toBe(1)
    await page.route('**/graphql', (route) => route.abort(), { times: 1 })
    await page.getByRole('button', { name: 'End the session of' }).click()
    await page.getByRole('alert').filter({ hasText: 'The gateway does not answer.' }).waitFor()
    await page.getByRole('button', { name: 'Try now' }).click()
    await expect.poll(() => page.getByText('The gateway does not answer').count()).toBe(0)
    await page.getByRole('button', { name: 'End the session of' }).press('Enter')
    await expect.poll(() => rows.count()).toBe(1)
    // The button that had the focus is gone, so the focus moves to the heading.
    await page.locator('h1:focus', { hasText: 'Sessions' }).waitFor()
    expect((await get('/projects', other.accessToken)).status).toBe(401)
    const endAll = page.getByRole('button', { name: 'End all, this one too' })
    const question = page.getByRole('alertdialog', { name: 'End all sessions?' })
    for (const answer of ['Escape', 'Cancel'] as const) {
      await endAll.press('Enter')
      await question.waitFor()
      if (answer === 'Escape') await page.keyboard.press('Escape')
      else await question.getByRole('button', { name: 'Cancel' }).click()
      await question.waitFor({ state: 'detached' })
      await page.locator('button:focus', { hasText: 'End all, this one too' }).waitFor()
    }
    await page.reload()
    await signIn(page, ANA)
    await expect.poll(() => rows.count()).toBe(2)
    await endAll.click()
    await question.getByRole('button', { name: 'End all sessions' }).click()
    await page.getByText('Your session has ended: sign in again.').waitFor()

    for (let opened = 0; opened < 3; opened += 1) await login(ANA)
    await signIn(page, ANA)
    await expect.poll(() => rows.count()).toBe(4)
    let held = Promise.withResolvers<void>()
    const isEnd = (request: Request) => request.postData()?.includes('revokeSession') === true
    await page.route('**/graphql', async (route) => {
      if (!isEnd(route.request())) await held.promise
      await route.continue()
    })
    const askedAgain = page.waitForRequest((request) => request.url().endsWith('/graphql') && !isEnd(request))
    const ends = page.getByRole('button', { name: 'End the session of' })
    await ends.first().press('Enter')
    await askedAgain
    expect(await rows.count()).toBe(4)
    await ends.last().focus()
    held.resolve()
    await expect.poll(() => rows.count()).toBe(3)
    expect(await ends.last().evaluate((button) => button === document.activeElement)).toBe(true)

    held = Promise.withResolvers()
    let ended = 0
    await page.unroute('**/graphql')
    await page.route('**/graphql', async (route) => {
      if (isEnd(route.request())) ended += 1
      if (isEnd(route.request()) && ended === 2) await held.promise
      await route.continue()
    })
    // Both are pressed before the list is read again.
    await page.evaluate(() => {
      for (const button of document.querySelectorAll<HTMLElement>('.sessions button')) button.click()
    })
    await expect.poll(() => rows.count()).toBe(2)
    held.resolve()
    await expect.poll(() => rows.count()).toBe(1)
  })

  test('a second tab joins the session of the first, both are signed out together, and what is open there closes', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const page = await context.newPage()
    await page.goto(url)
    await signIn(page, ANA)
    await waitForAgreement(page)
    const other = await context.newPage()
    await other.goto(`${url}/workspace`)
    await other.locator('.item').first().waitFor()
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Go to' })
    await palette.getByRole('searchbox').waitFor()
    await signOut(other)
    await page.getByText('You signed out in another tab.').waitFor()
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toMatch(/eyJ|wgr_/)
    expect(await palette.count()).toBe(0)
    await signIn(other, ANA)
    const account = page.locator('.account > button')
    await account.waitFor()
    expect(await palette.count()).toBe(0)
    await account.click()
    await page.locator('.account .panel').waitFor()
    await signOut(other)
    await page.getByText('You signed out in another tab.').waitFor()
    await signIn(other, ANA)
    await account.waitFor()
    expect(await page.locator('.account .panel').count()).toBe(0)
    // Another user signs in there, without a sign-out in between.
    await account.click()
    await page.locator('.account .panel').waitFor()
    await page.keyboard.press('Control+k')
    await palette.getByRole('searchbox').waitFor()
    await other.locator('.account > button').click()
    await other.getByText('Sign in as somebody else').click()
    await other.getByLabel('Email', { exact: true }).fill(BEN)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.locator('.account .email', { hasText: BEN }).waitFor()
    expect([await palette.count(), await page.locator('.account .panel').count()]).toEqual([0, 0])
  })
})

function queryEditor(page: Page) {
  return page.getByRole('textbox', { name: /GraphQL query/ })
}

/** Records every text of the verdict from now on. */
async function recordVerdicts(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const seen: string[] = []
    Reflect.set(window, 'verdicts', seen)
    const bench = document.querySelector('.bench')
    const note = () => seen.push(document.querySelector('.verdict')?.textContent ?? '')
    if (bench) new MutationObserver(note).observe(bench, { subtree: true, childList: true, characterData: true })
  })
  return () => page.evaluate(() => Reflect.get(window, 'verdicts') as readonly string[])
}
