// Tests the figures beside an answer: the time of the network and of the gateway; and that answers are compressed.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

/** The Accept headers of Apollo Client, urql, axios, browsers and GraphiQL. */
const ACCEPT_LISTS = [
  'application/graphql-response+json, application/json',
  'application/graphql-response+json,application/json;q=0.9',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'application/json, text/plain, */*',
  '*/*',
]

describe.skipIf(CHROMIUM === undefined)('the figures of an answer', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('F9: GraphQL answers are compressed for every Accept header that clients send', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const codings: (string | null)[] = []
    page.on('response', async (response) => {
      if (response.url().endsWith('/graphql') && response.request().method() === 'POST') {
        codings.push(await response.headerValue('content-encoding'))
      }
    })
    await page.goto(`${demo.url()}/graphql`)
    await page.locator('.graphiql-response', { hasText: 'Quillmoor' }).waitFor()
    // One answer is compressed, the introspection; the other fits into one packet.
    await expect.poll(() => codings.filter((coding) => coding !== null)).toHaveLength(1)
    const asked = await page.evaluate(async (lists) => {
      const [login, json] = [{ email: 'demo@example.com' }, { 'content-type': 'application/json' }]
      const answer = await fetch('login', { method: 'POST', headers: json, body: JSON.stringify(login) })
      const { accessToken } = (await answer.json()) as { accessToken: string }
      return Promise.all(
        lists.map(async (accept) => {
          const headers = { ...json, accept, authorization: `Bearer ${accessToken}` }
          const body = JSON.stringify({ query: '{ me { projects { data } } }' })
          const { status, headers: got } = await fetch('graphql', { method: 'POST', headers, body })
          return [accept, status, got.get('content-encoding')]
        }),
      )
    }, ACCEPT_LISTS)
    expect(asked).toEqual(ACCEPT_LISTS.map((accept) => [accept, 200, expect.stringMatching(/^(?:br|zstd|gzip)$/)]))
  })

  test('F30: the time of an answer is the time of the network, however busy the page is', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.addInitScript(() => {
      const original = globalThis.fetch
      globalThis.fetch = (...asked) => {
        const answer = original(...asked)
        // The page is busy, as it is while it starts: the answer arrives long before the page reads it.
        for (const end = performance.now() + 300; performance.now() < end; );
        return answer
      }
    })
    await page.goto(demo.url())
    await waitForAgreement(page)
    const shown = await page.locator('.rest .text-tools').innerText()
    const [took = 0] = await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => name.endsWith('/projects'))
        .map(({ requestStart, responseEnd }) => responseEnd - requestStart),
    )
    expect(shown).toContain(`${took.toFixed(took < 10 ? 1 : 0)} ms`)
    // With the login guard "local" the gateway reports its own time, because every user is on this machine.
    expect(shown).toMatch(/server [\d.]+ ms/)
  })

  test('F30: the time of an answer is the time of the network, also after hundreds of requests', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    const before = await page.evaluate(async () => {
      for (let asked = 0; asked < 300; asked += 1) await (await fetch('livez')).text()
      return performance.now()
    })
    await page.getByRole('button', { name: 'Run both' }).click()
    await page.locator('.past-runs', { hasText: '(2)' }).waitFor()
    const recorded = await page.evaluate(
      (since) =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
          .filter(({ name, startTime }) => name.endsWith('/projects') && startTime > since)
          .map(({ requestStart, responseEnd }) => responseEnd - requestStart),
      before,
    )
    expect(recorded).toHaveLength(1)
    const [took = 0] = recorded
    expect(await page.locator('.rest .text-tools').innerText()).toContain(`${took.toFixed(took < 10 ? 1 : 0)} ms`)
  })

  test('F30: the time of the gateway is shown separately where its operator turned it on', async () => {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    const told = ['/graphql', '/projects'].map((path) =>
      page.waitForResponse((one) => one.url().endsWith(path) && one.headers()['server-timing'] !== undefined),
    )
    await page.goto(url)
    await signIn(page, ANA)
    await waitForAgreement(page)
    for (const [index, side] of ['.graphql', '.rest'].entries()) {
      const steps = (await told[index])?.headers()['server-timing'] ?? ''
      const sum = [...steps.matchAll(/dur=([\d.]+)/g)].reduce((total, [, ms]) => total + Number(ms), 0)
      expect(sum).toBeGreaterThan(0)
      expect(await serverTime(page, `${side} .text-tools`)).toBe(`server ${sum.toFixed(sum < 10 ? 1 : 0)} ms`)
    }
    await page.getByRole('button', { name: 'Run both' }).click()
    for (const side of ['.graphql', '.rest']) {
      await expect.poll(() => serverTime(page, `${side} .text-tools`)).toMatch(/ms, kept$/)
    }
    await page.getByRole('link', { name: 'GraphiQL' }).click()
    await page.locator('.graphiql-response', { hasText: ANA }).waitFor()
    expect(await serverTime(page, '.cockpit')).toMatch(/^server [\d.]+ ms(?:, kept)?$/)
  })
})

async function serverTime(page: Page, selector: string): Promise<string> {
  return page
    .locator(`${selector} span`, { hasText: /^server / })
    .first()
    .innerText()
}
