// Checks a selection of the pages' states, each in one theme and width, with axe and for overflow.
// `npm run test:explorer` checks all of them in every theme and width.
import { beforeAll, describe, expect, test } from 'vitest'
import { overflow, violations } from '../../support/axe.ts'
import { CHROMIUM, shareBrowser } from '../../support/browser.ts'
import { makeDirectory, removeDirectory } from '../../support/temporary-directory.ts'
import { serveHardDemo } from './gateway.ts'
import { STATES } from './states.ts'

/** Those of one page follow each other in one tab, and each begins with nothing stored, as in a new one. */
const LOOKED_AT = {
  'the first page': [
    ['rosetta-choices', 320, 'light'],
    ['rosetta-refused', 768, 'dark'],
    ['palette', 390, 'light'],
    ['palette-files', 320, 'dark'],
  ],
  'the workspace': [
    ['project-comparison', 640, 'light'],
    ['project-odd', 320, 'light'],
    ['sign-in-refused', 320, 'dark'],
    ['sessions-end-all', 390, 'dark'],
  ],
  GraphiQL: [
    ['graphiql-settings', 390, 'dark'],
    ['graphiql-builder', 390, 'light'],
    ['graphiql-docs', 768, 'light'],
    ['graphiql-code', 1_440, 'dark'],
  ],
  'the reference': [
    ['docs-tried', 390, 'dark'],
    ['docs-headers', 320, 'light'],
  ],
} as const

describe.skipIf(CHROMIUM === undefined)('a state of the pages', () => {
  const browser = shareBrowser()
  let url = ''
  beforeAll(async () => {
    const cwd = makeDirectory()
    const gateway = await serveHardDemo(cwd)
    url = gateway.url
    return async () => {
      await gateway.kill('SIGKILL')
      removeDirectory(cwd)
    }
  })

  test.each(Object.entries(LOOKED_AT))(
    'states of %s, in several widths and both themes, pass axe and fit the window',
    async (_, states) => {
      const page = await (await browser.open(url)).newPage()
      await page.addInitScript(() => {
        sessionStorage.clear()
        localStorage.clear()
      })
      for (const [name, width, colorScheme] of states) {
        const state = STATES.find((row) => row.name === name)
        if (!state) throw new Error(`there is no state ${name}`)
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width: 1_280, height: 900 })
        await page.goto(url + state.path)
        await state.show(page)
        await page.setViewportSize({ width, height: 800 })
        const faults = [...(await violations(page)), ...(await overflow(page))]
        expect(faults, `${name}, ${width} pixels wide, ${colorScheme}`).toEqual([])
      }
    },
  )
})
