// Tests the pages in a real browser as a user meets them: sign-in, runs, links, downloads, hostile content.
import { readFileSync } from 'node:fs'
import { strFromU8, unzipSync } from 'fflate'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { ask, bearer, startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const EVE = 'eve@example.com'

describe.skipIf(CHROMIUM === undefined)('the pages in a browser', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('a first visit is signed in and answered before anything is clicked, and all eight routes run on both sides', async () => {
    const url = demo.url()
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await waitForAgreement(page, 'same 5 documents')
    expect(await page.locator('.account').innerText()).toContain('demo@example.com')
    expect(await page.locator('.sides .status.good').allInnerTexts()).toEqual(['200', '200'])
    // Only the demo user's refresh token is stored. That is harmless, because the email alone opens such a session too.
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    expect(kept.replace(/"workspace-gateway:demo-refresh-token":"wgr_[\w-]+"/, '')).not.toMatch(/eyJ|wgr_/)

    const rows = page.locator('.routes button')
    const count = await rows.count()
    expect(count).toBe(8)
    for (let index = 0; index < count; index += 1) {
      await rows.nth(index).click()
      const isRead = (await rows.nth(index).innerText()).startsWith('GET')
      if (!isRead) await page.getByRole('button', { name: 'Run both' }).click()
      await waitForAgreement(page, isRead ? 'byte for byte' : 'Both sides')
      // A token is shown only in part, so that nobody can use it.
      expect(await page.locator('main').innerText()).not.toMatch(/wgr_[\w-]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+/)
    }
    expect(await page.locator('.account').innerText()).toContain('demo@example.com')
    await rows.nth(1).click()
    await reference(page).fill('halfstep-conf')
    await reference(page).press('Enter')
    await page.locator('.verdict.refused', { hasText: 'Both sides refuse, with NO_EXPORT.' }).waitFor()
  })

  test('with access tokens of 2 seconds the user never sees a 401, and refreshes run one at a time', async () => {
    const { url, load } = await startGateway({ accessTokenTtlSeconds: 2, clock: Date.now, demoEmail: ANA })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    let [refreshing, most, refreshes] = [0, 0, 0]
    page.on('request', (request) => {
      if (!request.url().endsWith('/token')) return
      refreshes += 1
      refreshing += 1
      most = Math.max(most, refreshing)
    })
    page.on('response', (response) => {
      if (response.url().endsWith('/token')) refreshing -= 1
    })
    await page.goto(url)
    await waitForAgreement(page)
    const statuses = page.locator('.sides .status')
    await page.evaluate(() => {
      new MutationObserver(() => {
        for (const { textContent } of document.querySelectorAll('.sides .status')) {
          document.body.dataset.seen = `${document.body.dataset.seen ?? ''} ${textContent}`
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
    })
    while (refreshes < 3) {
      // The statuses of the run before are still shown until its answers have come. On a slow machine a token can expire on the
      // way: the page then asks again with a new one.
      const answers = ['/projects', '/graphql'].map((path) =>
        page.waitForResponse((answer) => answer.url() === `${url}${path}` && answer.status() === 200),
      )
      await page.getByRole('button', { name: 'Run both' }).click()
      await Promise.all(answers)
      await expect.poll(() => statuses.allInnerTexts()).toEqual(['200', '200'])
      await page.waitForTimeout(300)
    }
    expect(most).toBe(1)
    const shown = await page.evaluate(() => document.body.dataset.seen?.match(/\d+/g) ?? [])
    expect([...new Set(shown)]).toEqual(['200'])
  })

  test('downloads contain what the API answers, and after sign-out neither back nor a reload shows any data', async () => {
    const url = demo.url()
    const page = await (await browser.open(url)).newPage()
    let accessToken = ''
    page.on('request', (request) => {
      accessToken = request.headers().authorization?.replace('Bearer ', '') ?? accessToken
    })
    await page.goto(url)
    await waitForAgreement(page)
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.getByText('Quillmoor').first().click()
    const { text, json } = await ask(`${url}/exports?r=roastery-site`, { headers: bearer(accessToken) })
    const [jsonFile, zipFile] = [
      page.getByRole('button', { name: 'Download JSON' }),
      page.getByRole('button', { name: 'Download zip' }),
    ]
    const saved: Buffer[] = []
    for (const button of [jsonFile, zipFile]) {
      const downloading = page.waitForEvent('download')
      await button.click()
      saved.push(readFileSync(await (await downloading).path()))
    }
    expect(saved[0]?.toString()).toBe(text)
    const zip = unzipSync(new Uint8Array(saved[1] ?? []))
    const elements: readonly { path: string; content: string }[] = json()
    expect(Object.fromEntries(Object.entries(zip).map(([path, bytes]) => [path, strFromU8(bytes)]))).toEqual(
      Object.fromEntries(elements.map(({ path, content }) => [path, content])),
    )

    await page.locator('.account > button').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect((await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(401)
    for (const step of [
      () => page.goBack(),
      () => page.goForward(),
      () => page.reload(),
      () => page.goto(`${url}/graphql`),
    ]) {
      await step()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(await page.content()).not.toContain('Quillmoor')
    }
    await signIn(page, 'Demo@Example.com')
    await page.locator('.graphiql-container').waitFor()
    expect(await page.locator('.account').innerText()).toContain('demo@example.com')
  })

  test('a session that the user asks to keep survives a reload, and sessionStorage alone holds its token', async () => {
    const { url } = await startGateway()
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    await signIn(page, 'not an email')
    await page.getByRole('alert').waitFor()
    await signIn(page, EVE)
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, EVE)
    await page.locator('.account > button').click()
    await page.locator('.panel > .check input').check()
    await page.reload()
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toMatch(/wgr_/)
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toMatch(/eyJ|wgr_/)
    const elsewhere = async () => [await indexedDB.databases(), await caches.keys(), document.cookie]
    expect(await page.evaluate(elsewhere)).toEqual([[], [], ''])
    expect(await page.context().cookies()).toEqual([])
    expect(page.url()).not.toMatch(/eyJ|wgr_/)
  })

  test('a link restores the reference and the query, and never holds a token', async () => {
    const url = demo.url()
    const context = await browser.open(url)
    const page = await context.newPage()
    await page.goto(url)
    await waitForAgreement(page)
    await page.locator('.routes button', { hasText: '/exports' }).click()
    await reference(page).fill('river-dashboard')
    await reference(page).press('Escape')
    const query = 'query($r: String!) { me { latestExport(ref: $r) { digest data } } } # mine'
    await page.getByRole('textbox', { name: /GraphQL query/ }).fill(query)
    const other = await context.newPage()
    await other.goto(page.url())
    await waitForAgreement(other, 'same 8 documents')
    expect(await reference(other).inputValue()).toBe('river-dashboard')
    expect(await other.getByRole('textbox', { name: /GraphQL query/ }).inputValue()).toBe(query)
    const secret = `wgr_${'x'.repeat(43)}`
    await other.getByRole('textbox', { name: /GraphQL query/ }).fill(`mutation { logout(refreshToken: "${secret}") }`)
    await expect.poll(() => other.url()).toContain('mutation')
    expect(other.url()).not.toContain(secret)
  })

  test('a query of 15 kB survives a reload, whose request does not contain it, and a copied link', async () => {
    const url = demo.url()
    const context = await browser.open(url, { permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(url)
    await waitForAgreement(page)
    const query = `{ me { projects { data } } } #${' a long comment'.repeat(1_000)}`
    const editor = page.getByRole('textbox', { name: /GraphQL query/ })
    await editor.fill(query)
    await expect.poll(() => page.url().length).toBeGreaterThan(15_000)
    const answer = await page.reload()
    expect(answer?.status()).toBe(200)
    expect(answer?.request().url()).not.toContain('comment')
    await waitForAgreement(page)
    expect(await editor.inputValue()).toBe(query)
    await page.getByRole('button', { name: 'Copy link' }).click()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    const other = await (await browser.open(url)).newPage()
    await other.goto(link)
    await waitForAgreement(other)
    expect(await other.getByRole('textbox', { name: /GraphQL query/ }).inputValue()).toBe(query)
    // A link from the time when the query stood before the `#`.
    await other.goto(`${url}/?${new URLSearchParams({ route: 'GET /projects', query: '{ me { email } }' })}`)
    await expect.poll(() => other.getByRole('textbox', { name: /GraphQL query/ }).inputValue()).toBe('{ me { email } }')
    await expect.poll(() => new URL(other.url()).hash).toContain('email')
    expect(new URL(other.url()).search).toBe('?route=GET+%2Fprojects')
  })

  test('an export with hostile content runs no script, and its zip unpacks nothing outside its folder', async () => {
    const attack =
      '<script>window.pwned=1</script><img src=x onerror="window.pwned=1"><a href="javascript:window.pwned=1">x</a>'
    const elements = [
      { path: 'index.html', name: attack, content: attack },
      { path: `${attack}.html`, content: attack },
      { path: '../../etc/passwd', content: 'root' },
      { path: 'C:\\windows\\system.ini', content: 'ini' },
      { path: '/absolute.txt', content: 'absolute' },
      { path: 'INDEX.html', content: 'the same name on some machines' },
      { name: 'no path', value: 12 },
    ].map((element) => JSON.stringify(element))
    const name = JSON.stringify(attack)
    const { url, load } = await startGateway()
    await load(
      documentLine(
        'project',
        EVE,
        `{"id":"p","ref":"javascript:alert(1)","name":${name},"description":${name},"tags":[${name}]}`,
      ) +
        exportLine(EVE, { r: 'javascript:alert(1)', createdAt: '2026-01-01T00:00:00Z', elements }) +
        documentLine('template', EVE, `{"id":"t","name":${name},"html":${name}}`),
    )
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    await signIn(page, EVE)
    await page.locator('.item').first().click()
    const files = page.locator('.tree .file')
    await files.first().waitFor()
    for (let index = 0; index < (await files.count()); index += 1) {
      await files.nth(index).click()
      await page.locator('.preview .line').first().waitFor()
    }
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download zip' }).click()
    const zip = unzipSync(readFileSync(await (await downloading).path()))
    expect(new Set(Object.keys(zip).map((path) => path.toLowerCase()))).toHaveLength(7)
    expect(Object.keys(zip).filter((path) => /^\/|\.\.|[\\:]/.test(path))).toEqual([])
    await page.getByRole('link', { name: 'See the request' }).click()
    await waitForAgreement(page)
    await page.goto(`${url}/workspace?show=templates&open=t`)
    await signIn(page, EVE)
    await page.locator('.opened .line').first().waitFor()
    expect(await page.evaluate(() => Reflect.get(window, 'pwned'))).toBeUndefined()
    expect(await page.locator('main script, main img, main a[href^="javascript:"]').count()).toBe(0)
  })

  test('thousands of projects are searched and scrolled, and only the visible rows are drawn', async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) =>
      documentLine('project', EVE, `{"id":"p${index}","name":"Project ${index}","description":"Number ${index}"}`),
    )
    const { url, load } = await startGateway()
    await load(lines.join(''))
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    await signIn(page, EVE)
    await page.getByText('2,000 in all').waitFor()
    expect(await page.locator('.items li').count()).toBeLessThan(60)
    await page.getByLabel('Sort by').selectOption('Stored order')
    await page.locator('.items').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    await page.getByText('Project 1999').waitFor()
    expect(await page.locator('.items li').count()).toBeLessThan(60)
    await page.getByLabel('Search').fill('number 1321')
    await page.getByText('1 of 2,000').waitFor()
    await page.locator('.item').click()
    await page.getByText('This project has no export yet.').waitFor()
  })
})

function reference(page: Page): Locator {
  return page.getByRole('combobox', { name: 'r reference of a project' })
}
