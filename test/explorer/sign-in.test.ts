// Tests sign-in and sign-out in the pages: the user stays the one who was shown, and the pages explain the login guard.
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { CHROMIUM, shareBrowser, signIn, signInAs, signInHere, signOut, waitForAgreement } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe.skipIf(CHROMIUM === undefined)('sign-in and sign-out', () => {
  const browser = shareBrowser()

  test('F17: a user who left the demo for their own workspace is not back in the demo after a reload, in another tab either', async () => {
    const { url, load } = await startGateway({ demoEmail: BEN })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await waitForAgreement(page)
    await signInAs(page, ANA)
    await page.reload()
    await page.getByRole('alert').getByText('sign in again').waitFor()
    expect(await page.locator('body').innerText()).not.toContain(BEN)
    await signIn(page, BEN)
    await waitForAgreement(page)
    await page.reload()
    await page.locator('.account .email', { hasText: BEN }).waitFor()

    await signInAs(page, ANA)
    const second = await page.context().newPage()
    await second.goto(url)
    await second.locator('.account .email', { hasText: ANA }).waitFor()
    await page.close()
    await second.reload()
    await second.getByRole('alert').getByText('sign in again').waitFor()
    expect(await second.locator('body').innerText()).not.toContain(BEN)
  })

  test('F17: a sign-out in one tab holds after a reload of another tab, until the next sign-in', async () => {
    const { url, load } = await startGateway({ demoEmail: BEN })
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const [first, second] = [await context.newPage(), await context.newPage()]
    for (const page of [first, second]) {
      await page.goto(url)
      await waitForAgreement(page)
    }
    await signOut(first)
    const notice = second.getByRole('alert').filter({ hasText: 'You signed out in another tab.' })
    await notice.waitFor()
    // It is no failure and does not look like one.
    const colour = await colourOf(notice)
    expect(colour).toBe(await colourOf(second.getByRole('heading', { name: 'Sign in' })))
    await signIn(second, '')
    expect(await colourOf(second.getByText('Enter an email address.'))).not.toBe(colour)
    await second.reload()
    await second.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await second.locator('.account').count()).toBe(0)
    // A sign-in in the second tab signs in the first one too, and a reload keeps it.
    await signIn(second, ANA)
    const email = first.locator('.account .email', { hasText: ANA })
    await email.waitFor()
    await first.reload()
    await email.waitFor()
  })

  test('F17: the account menu and the sign-in form offer once to stay signed in, and that survives a reload', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await signIn(page, ANA)
    await waitForAgreement(page)
    await page.locator('.account > button').click()
    await page.getByText('Sign in as somebody else').click()
    const choice = page.getByLabel('Keep me signed in')
    expect(await choice.count()).toBe(1)
    await choice.check()
    await signInHere(page, BEN)
    const email = page.locator('.account .email')
    await email.filter({ hasText: BEN }).waitFor()
    await page.reload()
    await email.filter({ hasText: BEN }).waitFor()
    await signOut(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await choice.check()
    await signIn(page, ANA)
    await waitForAgreement(page)
    await page.reload()
    await waitForAgreement(page)
    await email.filter({ hasText: ANA }).waitFor()
  })

  test('a reopened tab with a kept session gets the user who signed in meanwhile', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const [first, second] = [await context.newPage(), await context.newPage()]
    await first.goto(url)
    await first.getByLabel('Keep me signed in').check()
    await signIn(first, ANA)
    await waitForAgreement(first)
    await second.goto(url)
    await waitForAgreement(second)
    const kept = await first.evaluate(() => Object.entries(sessionStorage))
    await first.close()
    await signInAs(second, BEN)
    const again = await context.newPage()
    await again.addInitScript((entries) => {
      for (const [name, value] of entries) sessionStorage.setItem(name, value)
    }, kept)
    await again.goto(url)
    await again.locator('.account .email', { hasText: BEN }).waitFor()
    await waitForAgreement(again)
    expect(await second.locator('.account .email').innerText()).toBe(BEN)
  })

  test('a sign-in at an address that begins with two slashes works, in other tabs too', async () => {
    const { url, load } = await startGateway({ demoEmail: BEN })
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const [page, other] = [await context.newPage(), await context.newPage()]
    await other.goto(url)
    await waitForAgreement(other)
    await page.goto(`${url}//workspace?show=projects`)
    await page.locator('.account .email', { hasText: BEN }).waitFor()
    // After a reload the address may hold what the previous user wrote, so the next user does not get it.
    await page.reload()
    await page.locator('.account .email', { hasText: BEN }).waitFor()
    await signInAs(page, ANA)
    expect(page.url()).toBe(`${url}//workspace`)
    await other.locator('.account .email', { hasText: ANA }).waitFor()
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('F17: a sign-out that does not reach the gateway says so, and ends the session once it can, or when the page is left', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    let renewal = await signInToRenew()
    await page.route('**/*', (route) => route.abort())
    await signOut(page)
    const message = page
      .getByRole('alert')
      .filter({ hasText: 'Signed out here, but the gateway could not be told yet' })
    await message.waitFor()
    expect(await renewal()).toBe(200)
    await page.unroute('**/*')
    await message.waitFor({ state: 'detached' })
    expect(await renewal()).toBe(401)

    renewal = await signInToRenew()
    // The clock stands still, so nothing is retried by itself.
    await page.clock.install()
    await page.route('**/logout', (route) => route.abort())
    await signOut(page)
    await message.waitFor()
    expect(await renewal()).toBe(200)
    await page.unroute('**/logout')
    await page.reload()
    await expect.poll(renewal).toBe(401)

    /** Returns the status of a renewal with the refresh token that the page received. */
    async function signInToRenew(): Promise<() => Promise<number>> {
      const login = page.waitForResponse((response) => response.url().endsWith('/login'))
      await signIn(page, ANA)
      const { refreshToken } = (await (await login).json()) as { readonly refreshToken: string }
      await waitForAgreement(page)
      const body = JSON.stringify({ refreshToken })
      return async () => (await fetch(`${url}/token`, { method: 'POST', headers: JSON_TYPE, body })).status
    }
  })

  test('F17: the reference signs in on the spot, an invalid address is explained, and the focus stays where the user is', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    const button = page.getByRole('button', { name: 'Sign in' })
    const focused = page.locator('button:focus')
    await page.getByLabel('Email', { exact: true }).fill('ana')
    await button.press('Enter')
    await page.getByText('This is not an email address.').waitFor()
    expect(await focused.innerText()).toBe('Sign in')
    await page.getByLabel('Email', { exact: true }).fill(ANA)
    const body = JSON.stringify({ code: 'LOGIN_CODE_SENT' })
    await page.route('**/login', (route) => route.fulfill({ status: 403, body }), { times: 1 })
    await button.press('Enter')
    await page.locator('input.code:focus').fill('ABCD')
    await button.press('Enter')
    await page.locator('.item').first().waitFor()
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    const projects = page.locator('#getProjects')
    await projects.getByRole('button', { name: /^Try it/ }).press('Enter')
    await projects.locator('.try .status.good').waitFor()
    expect(await focused.innerText()).toContain('Try it')

    await signOut(page)
    await projects.getByText('Sign in to try it here').click()
    await signInHere(page, 'ana')
    expect(await page.getByRole('alert').innerText()).toBe('This is not an email address.')
    await signInHere(page, ANA)
    await projects.getByRole('button', { name: /^Try it/ }).click()
    await projects.locator('.try .status.good').waitFor()
    expect(new URL(page.url()).pathname).toBe('/docs')
  })

  test('the email and the code that were typed are still there after a look at the reference, until somebody signs in', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    const [email, code] = [page.getByLabel('Email', { exact: true }), page.locator('input.code')]
    const look = async () => {
      await page.getByRole('link', { name: 'Reference', exact: true }).click()
      await page.locator('.operation').first().waitFor()
      await page.goBack()
    }
    await email.fill('ana@')
    await look()
    expect(await email.inputValue()).toBe('ana@')
    const answer = Promise.withResolvers<void>()
    await page.route(
      '**/login',
      async (route) => {
        await answer.promise
        await route.fulfill({ status: 403, body: JSON.stringify({ code: 'LOGIN_CODE_SENT' }) })
      },
      { times: 1 },
    )
    // The code may be sent while the form is not there.
    await signIn(page, ANA)
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.locator('.operation').first().waitFor()
    const answered = page.waitForResponse('**/login')
    answer.resolve()
    await (await answered).finished()
    await page.goBack()
    await code.and(page.locator(':focus')).fill('ABC')
    await look()
    expect(await code.inputValue()).toBe('ABC')
    expect(await email.inputValue()).toBe(ANA)
    await code.press('Enter')
    await page.locator('.item').first().waitFor()
    await signOut(page)
    await email.waitFor()
    expect(await email.inputValue()).toBe('')
    expect(await code.count()).toBe(0)
  })

  test('an answer that comes when the user has looked at the reference and is back is shown', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    const button = page.locator('form button[type=submit]')
    for (const [code, shown] of [
      ['LOGIN_REFUSED', page.getByRole('alert').filter({ hasText: 'Not today.' })],
      ['LOGIN_CODE_SENT', page.locator('input.code:focus')],
    ] as const) {
      const answer = Promise.withResolvers<void>()
      await page.route(
        '**/login',
        async (route) => {
          await answer.promise
          await route.fulfill({ status: 403, body: JSON.stringify({ code, detail: 'Not today.' }) })
        },
        { times: 1 },
      )
      await signIn(page, ANA)
      await page.getByRole('link', { name: 'Reference', exact: true }).click()
      await page.locator('.operation').first().waitFor()
      await page.goBack()
      expect(await button.innerText()).toBe('Signing in …')
      answer.resolve()
      await shown.waitFor()
      expect(await button.innerText()).toBe('Sign in')
    }
  })

  test('an answer that comes when somebody has signed in in another tab changes nothing', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const context = await browser.open(url)
    const [page, other] = [await context.newPage(), await context.newPage()]
    for (const each of [page, other]) await each.goto(`${url}/workspace`)
    const answer = Promise.withResolvers<void>()
    await page.route('**/login', async (route) => {
      await answer.promise
      await route.fulfill({ status: 403, body: JSON.stringify({ code: 'LOGIN_REFUSED', detail: 'Not today.' }) })
    })
    await signIn(page, BEN)
    await signIn(other, ANA)
    await page.locator('.item').first().waitFor()
    const answered = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/login'))
    answer.resolve()
    await answered
    await signOut(page)
    await page.getByLabel('Email', { exact: true }).waitFor()
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('')
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('a tab that is reloaded while its user reads the mail still asks for the code, which it does not store', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace`)
    const [email, code] = [page.getByLabel('Email', { exact: true }), page.locator('input.code')]
    const body = JSON.stringify({ code: 'LOGIN_CODE_SENT' })
    await page.route('**/login', (route) => route.fulfill({ status: 403, body }), { times: 1 })
    await page.getByLabel('Keep me signed in').check()
    await signIn(page, ANA)
    await code.fill('ABCDEFGH')
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('ABCDEFGH')
    await page.reload()
    expect(await code.and(page.locator(':focus')).inputValue()).toBe('')
    expect(await email.inputValue()).toBe(ANA)
    await code.fill('ABCDEFGH')
    await code.press('Enter')
    await page.locator('.item').first().waitFor()
    // It was asked for before the reload.
    await page.reload()
    await page.locator('.item').first().waitFor()
    await signOut(page)
    await page.reload()
    await email.waitFor()
    expect(await code.count()).toBe(0)
  })

  test('a code is requested and checked for the address it stands below, again or for another address', async () => {
    const { url } = await startGateway()
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    const [email, code] = [page.getByLabel('Email', { exact: true }), page.locator('input.code')]
    const [alert, focus] = [page.getByRole('alert'), page.locator(':focus')]
    const another = page.getByRole('button', { name: 'Use another address' })
    const asked: unknown[] = []
    let answer = Promise.withResolvers<void>()
    await page.route('**/login', async (route) => {
      const sent: { readonly code?: string } = route.request().postDataJSON()
      asked.push(sent)
      await answer.promise
      const code = sent.code === undefined ? 'LOGIN_CODE_SENT' : 'LOGIN_CODE_WRONG'
      await route.fulfill({ status: 403, body: JSON.stringify({ code, detail: 'Sign in without one.' }) })
    })
    await signIn(page, ANA)
    await page.getByRole('button', { name: 'Signing in …' }).waitFor()
    await email.press('End')
    await page.keyboard.type('.invalid')
    answer.resolve()
    await page.getByText(`If ${ANA} may sign in here`).waitFor()
    expect(await email.inputValue()).toBe(ANA)

    // While a code is checked, the address cannot be changed: the answer would stand below another one.
    answer = Promise.withResolvers()
    await code.fill('WRONG')
    await code.press('Enter')
    await page.getByRole('button', { name: 'Signing in …' }).waitFor()
    await another.press('Enter')
    answer.resolve()
    await alert.waitFor()
    expect(await alert.innerText()).toBe('The code is wrong or no longer valid.')
    expect(await code.getAttribute('aria-invalid')).toBe('true')

    await page.getByRole('button', { name: 'Send another code' }).press('Enter')
    await alert.waitFor({ state: 'detached' })
    expect(await code.and(focus).inputValue()).toBe('')
    // Enter does nothing before the answer has come.
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    expect(asked).toEqual([{ email: ANA }, { email: ANA, code: 'WRONG' }, { email: ANA }])

    await code.fill('WRONG')
    await code.press('Enter')
    await alert.waitFor()
    await another.press('Enter')
    await code.waitFor({ state: 'detached' })
    expect(await alert.count()).toBe(0)
    expect(await email.and(focus).getAttribute('aria-invalid')).toBe('false')
    await email.fill(BEN)
    await email.press('Enter')
    await code.waitFor()
    expect(await code.inputValue()).toBe('')
  })

  test('F17: "Sign in as somebody else" focuses the email, and keeps what is typed while the panel is closed', async () => {
    const { url, load } = await startGateway({ demoEmail: BEN })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await page.locator('.account > button').press('Enter')
    await page.getByText('Sign in as somebody else').press('Enter')
    const body = JSON.stringify({ code: 'LOGIN_CODE_SENT' })
    await page.route('**/login', (route) => route.fulfill({ status: 403, body }), { times: 1 })
    await page.locator('.account input[type=email]:focus').waitFor()
    await page.keyboard.type(ANA)
    await page.keyboard.press('Enter')
    await page.locator('input.code:focus').fill('ABCD')
    await page.getByRole('heading', { level: 1 }).click()
    await page.locator('.account .panel').waitFor({ state: 'hidden' })
    await page.locator('.account > button').click()
    expect(await page.locator('.account input[type=email]').inputValue()).toBe(ANA)
    await page.locator('.account input.code').press('Enter')
    await page.locator('.account .email', { hasText: ANA }).waitFor()
    // After the sign-in it belongs to that user, and the next user does not see it.
    await page.locator('.account > button').click()
    await page.getByText('Sign in as somebody else').click()
    expect(await page.locator('.account input[type=email]:focus').inputValue()).toBe('')
    await page.keyboard.type(BEN)
    await page.keyboard.press('Enter')
    await page.locator('.account .email', { hasText: BEN }).waitFor()
  })

  test('F17: a gateway that lets anybody in warns about it', async () => {
    const { url } = await startGateway({ createGuard: guardsOf(['open'], { trustedOrigins: [] }) })
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    await page.locator('.notice.warn', { hasText: 'lets anybody in as anybody' }).waitFor()
  })

  test.each([
    [['client', 'mail'], 'A code is sent to your mailbox.', 'has a code mailed there;'],
    [
      ['local', 'mail'],
      'This gateway trusts people on its own machine: an email is enough. Everybody else is mailed a code.',
      'has a code mailed there, except on the machine of the gateway;',
    ],
    // The guard "mail" decides every login, so the guard after it is never asked.
    [['mail', 'local'], 'A code is sent to your mailbox.', 'has a code mailed there;'],
  ] as const)('a gateway with the guards %j says that it mails codes', async (names, hint, step) => {
    const mail = mailGuardOptions({ url: 'smtp://127.0.0.1:1' })
    const { url } = await startGateway({ createGuard: guardsOf(names, { trustedOrigins: [], mail }) })
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    const note = page.locator('.card .note', { hasText: hint })
    await note.waitFor()
    expect(await note.innerText()).toBe(hint)
    await page.getByRole('link', { name: 'Reference', exact: true }).click()
    await page.locator('#start', { hasText: step }).waitFor()
    const isOffered = names[0] === 'local'
    expect(await page.locator('#start').getByLabel('with sign-in').count()).toBe(isOffered ? 1 : 0)
  })

  test.each([
    ['none', 'This gateway opens no new sessions at the moment.'],
    ['client', 'Only registered programs can sign people in at this gateway, so nobody can sign in on this page.'],
  ] as const)('a gateway whose pages let nobody in says so, and offers no form (%s)', async (guard, sentence) => {
    const { url } = await startGateway({ createGuard: guardsOf([guard], { trustedOrigins: [] }) })
    const page = await (await browser.open(url)).newPage()
    await page.goto(url)
    for (const path of ['/', '/docs']) {
      if (path === '/docs') {
        await page.getByRole('link', { name: 'Reference', exact: true }).click()
        await page.locator('#getProjects').getByText('Sign in to try it here').click()
      }
      await page.getByText(sentence).filter({ visible: true }).waitFor()
      expect(await page.getByRole('textbox', { name: 'Email' }).count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0)
    }
  })
})

function colourOf(shown: Locator): Promise<string> {
  return shown.evaluate((element) => getComputedStyle(element).color)
}
