// Checks a selection of the pages' states, each in one theme and width, with axe and for overflow.
// `npm run test:explorer` checks all of them in every theme and width.
import { beforeAll, describe, expect, test } from 'vitest'
import { overflow, violations } from '../../support/axe.ts'
import { CHROMIUM, shareBrowser } from '../../support/browser.ts'
import { makeDirectory, removeDirectory } from '../../support/temporary-directory.ts'
import { serveHardDemo } from './gateway.ts'
import { STATES } from './states.ts'

const LOOKED_AT = [
  ['rosetta-choices', 320, 'light'],
  ['rosetta-refused', 768, 'dark'],
  ['palette', 390, 'light'],
  ['sessions-end-all', 390, 'dark'],
  ['palette-files', 320, 'dark'],
  ['sign-in-refused', 320, 'dark'],
  ['project-comparison', 640, 'light'],
  ['project-odd', 320, 'light'],
  ['graphiql-settings', 390, 'dark'],
  ['graphiql-builder', 390, 'light'],
  ['graphiql-docs', 768, 'light'],
  ['graphiql-code', 1_440, 'dark'],
  ['docs-tried', 390, 'dark'],
  ['docs-headers', 320, 'light'],
] as const

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

  test.each(LOOKED_AT)('%s, %i pixels wide, %s, passes axe and fits the window', async (name, width, colorScheme) => {
    const state = STATES.find((row) => row.name === name)
    if (!state) throw new Error(`there is no state ${name}`)
    const page = await (await browser.open(url, { colorScheme })).newPage()
    await page.goto(url + state.path)
    await state.show(page)
    await page.setViewportSize({ width, height: 800 })
    expect([...(await violations(page)), ...(await overflow(page))]).toEqual([])
  })
})
