// Calls that take a refresh token, tried in the pages: the session that is opened for one ends with it.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { noAnswer } from '../../src/explorer/answer/answer.ts'
import { sendSide, withOwnSession } from '../../src/explorer/rosetta/requests.ts'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { DEMO, fakeBrowser, settled, started } from '../support/fake-browser.ts'
import { startGateway, type Tokens } from '../support/gateway.ts'
import { BEN, SMALL_WORLD } from '../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('the session of a call that takes a refresh token', () => {
  const browser = shareBrowser()

  test('ends after POST /token on both sides', async () => {
    const { page, url, sessions } = await open()
    await page.goto(`${url}/?route=POST+%2Ftoken`)
    await page.getByRole('button', { name: 'Run both' }).click()
    await waitForAgreement(page, 'accessToken')
    await expect.poll(sessions).toBe(1)
  })

  test('is ended once by a logout on both sides', async () => {
    const { page, url, sessions, refusals } = await open()
    await page.goto(`${url}/?route=DELETE+%2Flogout`)
    await page.getByRole('button', { name: 'Run both' }).click()
    await page.locator('.verdict.same').waitFor()
    expect(await sessions()).toBe(1)
    expect(refusals()).toEqual([])
  })

  async function open(): Promise<{
    readonly page: Page
    readonly url: string
    /** How many sessions the person of the page has. */
    readonly sessions: () => Promise<number>
    /** The paths of what was answered 401. */
    readonly refusals: () => readonly string[]
  }> {
    const { url, load, login, graphql } = await startGateway({ demoEmail: BEN })
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 401) refused.push(new URL(response.url()).pathname)
    })
    let observer: Tokens | null = null
    async function sessions(): Promise<number> {
      observer ??= await login(BEN)
      const answer = await graphql('{ me { sessions { id } } }', { accessToken: observer.accessToken })
      // Without the one that asks.
      return answer.json().data.me.sessions.length - 1
    }
    return { page, url, sessions, refusals: () => refused }
  }
})

describe('the session of a logout that is tried', () => {
  const route = { method: 'DELETE', path: '/logout', field: 'refreshToken', summary: '', twin: '', parameter: null }
  const request = { route, value: '', query: '', variables: '' }

  test.each(['/login', '/logout'])('ends when the run is aborted before the answer of %s', async (path) => {
    const { open, live, holdAnswers } = fakeBrowser()
    const { session } = await started(open())
    const release = holdAnswers(path)
    const giveUp = new AbortController()
    const running = expect(sendSide('rest', request, session, giveUp.signal)).rejects.toThrow('given up')
    await settled()
    giveUp.abort(new Error('given up'))
    release()
    await running
    await settled()
    expect(live()).toEqual([DEMO])
  })

  test('ends when the logout is refused', async () => {
    const { open, live } = fakeBrowser()
    const { session } = await started(open())
    const refused = { ...noAnswer(null), status: 415, text: '{"code":"UNSUPPORTED_MEDIA_TYPE"}' }
    expect(await withOwnSession(route, session, async () => refused)).toBe(refused)
    await settled()
    expect(live()).toEqual([DEMO])
  })

  test('ends when the GraphQL call was edited and ended another session', async () => {
    const { open, live } = fakeBrowser()
    const { session } = await started(open())
    const answer = { ...noAnswer(null), status: 200, text: '{"data":{"logout":true}}' }
    expect(await withOwnSession(route, session, async () => answer, false)).toBe(answer)
    await settled()
    expect(live()).toEqual([DEMO])
  })

  test('is not ended a second time after a successful logout', async () => {
    const { open, live, calls } = fakeBrowser()
    const { session } = await started(open())
    expect((await sendSide('rest', request, session, new AbortController().signal)).status).toBe(200)
    await settled()
    expect(live()).toEqual([DEMO])
    expect(calls.filter((path) => path === '/logout')).toHaveLength(1)
  })
})
