// Tests the pages in Firefox: each one works, sends requests only to the gateway, and logs no error.
import { describe, expect, test } from 'vitest'
import { shareDemoGateway } from '../support/command-line.ts'
import { FIREFOX, shareFirefox } from '../support/firefox.ts'

/** A selector that matches once the page can be used. */
const PAGES: readonly (readonly [path: string, usable: string])[] = [
  ['/', '.verdict.same'],
  ['/?route=GET+%2Fexports&r=river-dashboard', '.verdict.same'],
  ['/graphql', '.graphiql-response .t-string'],
  ['/workspace', '.item'],
  ['/workspace?show=projects&open=roastery-site', '.preview .line span span[class]'],
  ['/docs', '.operation'],
  ['/nosuchpage', '.empty, main h1, main h2'],
  ['/sessions', '.sessions li'],
]

const gateway = shareDemoGateway()

describe.skipIf(FIREFOX === undefined)('in Firefox', () => {
  const tab = shareFirefox()

  test('every page can be used, fits the window, and sends requests only to the gateway', async () => {
    const url = gateway.url()
    for (const [path, usable] of PAGES) {
      await tab().open(url + path)
      await tab().until(`document.querySelector(${JSON.stringify(usable)}) !== null`)
      expect(await tab().read('document.documentElement.scrollWidth <= innerWidth'), path).toBe('true')
      const { errors, requests } = tab().seen()
      expect(errors, path).toEqual([])
      expect(requests.filter((asked) => !asked.startsWith(url) && !/^(?:data|blob|about):/.test(asked))).toEqual([])
    }
    // All of them share one session.
    expect(await tab().read("document.querySelectorAll('.sessions li').length")).toBe('1')
  })

  test('a user can run both sides, send a query, change the theme and move between pages', async () => {
    const click = (selector: string, text = '') =>
      tab().read(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.textContent.includes(${JSON.stringify(text)})).click()`,
      )
    await tab().open(gateway.url())
    await tab().until("document.querySelector('.verdict.same') !== null")
    await click('.routes button', '/logout')
    await click('.controls button', 'Run both')
    await tab().until("document.querySelector('.verdict.same')?.textContent.includes('Both sides ended a session')")
    await click('label', 'Dark theme')
    await tab().until("document.documentElement.dataset.theme === 'dark'")
    await click('nav a', 'GraphiQL')
    await tab().until("document.querySelector('.graphiql-response')?.textContent.includes('roastery-site')")
    await click('button[aria-label="Show Query builder"]')
    await tab().until("document.querySelector('.query-builder .check') !== null")
    await click('.query-builder .check', 'framework')
    await tab().until("!document.querySelector('.graphiql-query-editor').textContent.includes('framework')")
    await click('nav a', 'Workspace')
    await tab().until("document.querySelector('.item') !== null")
    await click('.item', 'Quillmoor')
    await tab().until("document.querySelector('.preview .line span span[class]') !== null")
    await tab().read('history.back()')
    await tab().until("document.querySelector('.item') !== null")
    expect(tab().seen().errors).toEqual([])
  })
})

describe.skipIf(FIREFOX === undefined)('in a Firefox that blocks cookies', () => {
  const tab = shareFirefox({ 'network.cookie.cookieBehavior': 2 })

  test('the pages start, and the demo user is signed in', async () => {
    await tab().open(gateway.url())
    await tab().until("document.querySelector('.verdict.same') !== null")
    expect(await tab().read("document.querySelector('.account .email').textContent")).toBe('demo@example.com')
    // Proves that this Firefox does block storage.
    expect(await tab().read('(() => { try { localStorage; return 1 } catch (error) { return error.name } })()')).toBe(
      'SecurityError',
    )
  })
})
