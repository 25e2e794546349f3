// Tests what a mail scanner does with a mail, in a real browser: it opens every link and clicks every element. With
// TEST_SIGN_IN=all (npm run test:sign-in), it does so with a thousand mails.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { startMailServer } from '../support/smtp.ts'

const MAILS = process.env.TEST_SIGN_IN === 'all' ? 1_000 : 5

describe.skipIf(CHROMIUM === undefined)('a mail', () => {
  const browser = shareBrowser()

  test('opens no session, whatever in it is opened or clicked', { timeout: 900_000 }, async () => {
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
      // The code still works, because nothing tried it.
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
  // A click reaches whatever would handle it: a link, a button, or a listener further up.
  await page.evaluate(`for (const element of document.querySelectorAll('body *')) {
    element.click()
    if (element instanceof HTMLFormElement) element.requestSubmit()
  }`)
}
