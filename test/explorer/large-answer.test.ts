// A large answer on the first page: what the page does with the whole of it, it does once.
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const LARGE = 1_000_000

interface Passes {
  parsed: number
  searched: number
}

describe.skipIf(CHROMIUM === undefined)('a large answer', () => {
  const browser = shareBrowser()

  test('is parsed once, and searched for tokens once, however much is typed beside it', async () => {
    const { url, load } = await startGateway({ demoEmail: ANA })
    await load(
      documentLine('project', ANA, '{"id":"p","ref":"p","name":"P"}') +
        exportLine(ANA, {
          r: 'p',
          createdAt: '2026-01-01T00:00:00Z',
          elements: [JSON.stringify({ path: 'a.txt', content: 'a line of it\n'.repeat(LARGE / 10) })],
        }),
    )
    const page = await (await browser.open(url)).newPage()
    await page.addInitScript((large) => {
      const passes: Passes = { parsed: 0, searched: 0 }
      Reflect.set(window, 'passes', passes)
      const { parse } = JSON
      JSON.parse = (text, ...others) => {
        if (String(text).length > large) passes.parsed += 1
        return parse(text, ...others)
      }
      const { replace } = String.prototype
      String.prototype.replace = function (this: string, ...args: unknown[]) {
        if (this.length > large && String(args[0]).includes('wgr_')) passes.searched += 1
        return Reflect.apply(replace, this, args)
      }
    }, LARGE)
    await page.goto(`${url}/?${new URLSearchParams({ route: 'GET /exports', r: 'p' })}`)
    await waitForAgreement(page)
    await page.locator('.side.rest .line').first().waitFor()
    await page.locator('.side.graphql .line').first().waitFor()
    const passes = () => page.evaluate<Passes>(() => Reflect.get(window, 'passes'))
    // One pass for each side.
    expect(await passes()).toEqual({ parsed: 2, searched: 2 })
    await page.getByLabel('GraphQL query').press('Control+End')
    await page.keyboard.type('# five')
    expect(await page.getByLabel('GraphQL query').inputValue()).toContain('# five')
    expect(await passes()).toEqual({ parsed: 2, searched: 2 })
  })
})
