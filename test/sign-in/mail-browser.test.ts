// What a scanner of mails does with them, in a real browser: it opens every address and presses everything that can be pressed.
// TEST_SIGN_IN=all (npm run test:sign-in) has it do so with a thousand.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { startMailServer } from '../support/smtp.ts'

const MAILS = process.env.TEST_SIGN_IN === 'all' ? 1_000 : 5

describe.skipIf(CHROMIUM === undefined)('mails', () => {
  const browser = shareBrowser()

  test('open no session, whatever in them is opened or pressed', { timeout: 900_000 }, async () => {
    const server = await startMailServer()
    const gateway = await startGateway({
      createGuard: guardsOf(['mail'], {
        trustedOrigins: [],
        mail: mailGuardOptions(server, { domains: ['example.com'], maxPerNetwork: 100_000, maxTotal: 100_000 }),
      }),
      attemptsPerMinute: null,
    })
    const page = await (await browser.open(gateway.url)).newPage()
    const login = (body: object) => gateway.send('POST', '/login', JSON.stringify(body))
    for (let index = 0; index < MAILS; index += 1) {
      const email = `reader${index}@example.com`
      expect((await login({ email })).json().code).toBe('LOGIN_CODE_SENT')
      const { source, to, code } = await server.mail(index)
      expect(to).toBe(email)
      await pressEverything(page, htmlOf(source))
      for (const address of source.match(/\bhttps?:\/\/[^\s"'<>]+/g) ?? []) await page.goto(address)
      expect(await gateway.store.sessionsOf(email, gateway.now(), 10)).toEqual([])
      // The code is as good as before: nothing was tried with it.
      if (index % 100 === 0) expect((await login({ email, code })).status).toBe(200)
    }
  })
})

function htmlOf(source: string): string {
  const html = source.slice(source.indexOf('<!doctype html>'), source.indexOf('</html>'))
  if (html === '') throw new Error('the mail has no HTML')
  return html
}

async function pressEverything(page: Page, html: string): Promise<void> {
  await page.setContent(html)
  // A click goes to whatever would take it: a link, a button, or whoever listens above.
  await page.evaluate(`for (const element of document.querySelectorAll('body *')) {
    element.click()
    if (element instanceof HTMLFormElement) element.requestSubmit()
  }`)
}
