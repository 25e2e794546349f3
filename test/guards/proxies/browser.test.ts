// Signs in from a real browser, across origins, through a TLS proxy, with the mail guard.
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { guardsOf } from '../../../src/auth/guards/guards.ts'
import { CHROMIUM, CHROMIUM_FOR_PAGES } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'
import { listenForTest } from '../../support/listen-for-test.ts'
import { mailGuardOptions } from '../../support/mail-guard.ts'
import { isInstalled } from '../../support/proxy-process.ts'
import { startMailServer } from '../../support/smtp.ts'
import { ANA, SMALL_WORLD } from '../../support/workspaces.ts'
import { DOCUMENTED, startDocumented } from './documented-proxies.ts'

/** Headers that client awareness and tracing tools add; each of them causes a preflight. */
const TOOL_HEADERS = {
  'apollographql-client-name': 'app',
  'apollographql-client-version': '1.0',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  baggage: 'a=b',
  'sentry-trace': '1-1',
  'x-requested-with': 'fetch',
  'x-request-id': '1',
}

/** Serves a page on an origin of its own. */
const servePage = () =>
  listenForTest(createServer((_request, response) => response.end('<!doctype html><title>App</title>')))

const [nginx] = DOCUMENTED

test.runIf(CHROMIUM !== undefined && isInstalled('nginx'))(
  "a page of another origin signs in by mail, reads, refreshes and signs out over TLS, with its tools' headers",
  async () => {
    if (nginx === undefined) throw new Error('the page has no nginx configuration')
    const [origin, stranger] = [await servePage(), await servePage()]
    const server = await startMailServer()
    const gateway = await startGateway({
      corsOrigins: [origin],
      trustedProxies: ['127.0.0.1'],
      createGuard: guardsOf(['mail'], { trustedOrigins: [], mail: mailGuardOptions(server) }),
    })
    await gateway.load(SMALL_WORLD)
    const { port } = await startDocumented(nginx, gateway.url)
    const browser = await chromium.launch({
      executablePath: CHROMIUM_FOR_PAGES ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
    })
    onTestFinished(() => browser.close())
    const context = await browser.newContext({ ignoreHTTPSErrors: true })

    async function visit(from: string) {
      const page = await context.newPage()
      await page.goto(from)
      // Does what the user does: read the mail and type in the code.
      await page.exposeFunction('codeFromMail', async () => (await server.mail(0)).code)
      return page.evaluate(
        async ({ url, headers, email }) => {
          const statuses: (number | string)[] = []
          async function send(method: string, path: string, body?: object, accessToken?: string) {
            const response = await fetch(url + path, {
              method,
              headers: {
                ...headers,
                'content-type': 'application/json',
                ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
              },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            }).catch((error: Error) => error.name)
            statuses.push(typeof response === 'string' ? response : response.status)
            return typeof response === 'string' ? {} : response.json()
          }
          const asked = await send('POST', '/login', { email })
          if (asked.code !== 'LOGIN_CODE_SENT') return statuses
          const code = await (globalThis as unknown as { codeFromMail: () => Promise<string> }).codeFromMail()
          const { refreshToken } = await send('POST', '/login', { email, code })
          const { accessToken } = await send('POST', '/token', { refreshToken })
          await send('GET', '/projects', undefined, accessToken)
          await send('POST', '/graphql', { query: '{ me { email } }' }, accessToken)
          await send('DELETE', '/logout', { refreshToken })
          await send('GET', '/projects', undefined, accessToken)
          return statuses
        },
        { url: `https://127.0.0.1:${port}`, headers: TOOL_HEADERS, email: ANA },
      )
    }

    expect(await visit(origin)).toEqual([403, 200, 200, 200, 200, 200, 401])
    expect(await visit(stranger)).toEqual(['TypeError'])
  },
)
