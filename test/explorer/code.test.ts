// Tests the code samples of a request in a browser, also if an email alone does not sign in or the input is no JSON.
import { describe, expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { CHROMIUM, shareBrowser, signIn } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { startMailServer } from '../support/smtp.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('the code of a request', () => {
  const browser = shareBrowser()

  test('takes a token, and does not claim that an email is enough, where a mailed code signs in', async () => {
    const server = await startMailServer()
    const mail = mailGuardOptions(server, { domains: ['example.com'] })
    const { url, load } = await startGateway({ createGuard: guardsOf(['mail'], { trustedOrigins: [], mail }) })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/docs`)
    const start = page.locator('#start')
    await start.locator('.snippet', { hasText: 'ACCESS_TOKEN must hold your token' }).waitFor()
    await start.getByText('has a code mailed there').waitFor()
    expect(await page.getByRole('checkbox', { name: 'with sign-in' }).count()).toBe(0)
    for (const language of await start.getByRole('combobox').locator('option').allInnerTexts()) {
      await start.getByRole('combobox').selectOption(language)
      const code = await start.locator('.snippet-text').innerText()
      expect(code).toContain('ACCESS_TOKEN')
      expect(code).not.toContain('/login')
    }
  })

  test('replaces a run that needs a refresh token where a mailed code signs in, and no code is mailed', async () => {
    const server = await startMailServer()
    const mail = mailGuardOptions(server, { domains: ['example.com'] })
    const { url, load } = await startGateway({ createGuard: guardsOf(['mail'], { trustedOrigins: [], mail }) })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/?route=DELETE+%2Flogout`)
    await signIn(page, ANA)
    await page.locator('input.code').fill((await server.mail(0)).code)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('.side.graphql').waitFor()
    const sent: string[] = []
    page.on('request', (request) => sent.push(new URL(request.url()).pathname))
    for (const name of ['Run both', 'Run REST', 'Run GraphQL']) {
      for (const button of await page.getByRole('button', { name }).all()) await button.click()
    }
    await page.locator('.verdict', { hasText: 'An email alone does not open one here' }).waitFor()
    await page.locator('.side.rest .snippet', { hasText: 'REFRESH_TOKEN' }).waitFor()
    await page.locator('.side.graphql .snippet', { hasText: 'REFRESH_TOKEN' }).waitFor()
    await page.getByRole('button', { name: 'Query', exact: true }).click()
    await page.getByLabel('GraphQL query').press('Control+Enter')

    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    for (const id of ['#deleteLogout', '#postToken']) {
      const operation = page.locator(id)
      await operation.getByText('An email alone does not open one here').waitFor()
      expect(await operation.getByRole('button', { name: 'Try it' }).count()).toBe(0)
    }
    expect(sent).not.toContain('/login')
    expect(server.mails).toHaveLength(1)
  })

  test('begins with the login where an email is enough to sign in', async () => {
    const { url } = await startGateway()
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/docs`)
    await page.locator('#start .snippet-text', { hasText: '/login' }).waitFor()
    await page.locator('#start').getByRole('checkbox', { name: 'with sign-in' }).uncheck()
    expect(await page.locator('#start .snippet-text').innerText()).not.toContain('/login')
    expect(await page.locator('body').innerText()).not.toMatch(/An email alone|has a code mailed/)
  })

  test('names variables or headers that are not JSON yet, instead of leaving them out', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/?route=GET+%2Fexports&value=site`)
    await signIn(page, ANA)
    await page.locator('.verdict.same').waitFor()
    const side = page.locator('.side.graphql')
    await side.getByLabel('Variables').fill('{ "r": ')
    await side.getByRole('button', { name: 'Code' }).click()
    await side.getByText('The variables are not a JSON object.').waitFor()
    expect(await side.locator('.snippet').count()).toBe(0)

    await page.getByRole('link', { name: 'GraphiQL', exact: true }).click()
    await page.locator('.graphiql-response', { hasText: ANA }).waitFor()
    await page.getByRole('button', { name: 'Code', exact: true }).click()
    const cockpit = page.locator('.cockpit')
    await cockpit.locator('.snippet', { hasText: 'curl -s' }).waitFor()
    for (const [tool, index, written] of [
      ['Variables', 0, '"x":1'],
      ['Headers', 1, 'x: 1'],
    ] as const) {
      await page.getByRole('button', { name: tool, exact: true }).click()
      await page.locator('.graphiql-editor-tool .CodeMirror').nth(index).click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText('{ "x": ')
      await cockpit.getByText(`The ${tool.toLowerCase()} are not a JSON object.`).waitFor()
      expect(await cockpit.locator('.snippet').count()).toBe(0)
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText('{ "x": 1 }')
      await cockpit.locator('.snippet', { hasText: written }).waitFor()
    }
  })
})
