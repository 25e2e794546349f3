// Takes pictures of every page in every state, at three widths and in both themes, for a person to look at:
// npm run pictures -- FOLDER [NAME …]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { CHROMIUM } from '../../support/browser.ts'
import { makeDirectory, removeDirectory } from '../../support/temporary-directory.ts'
import { serveHardDemo } from './gateway.ts'
import { STATES } from './states.ts'

const [folder, ...only] = process.argv.slice(2)
if (folder === undefined) throw new Error('name a folder for the pictures')
const WIDTHS = [390, 768, 1_440]

mkdirSync(folder, { recursive: true })
const cwd = makeDirectory()
const gateway = await serveHardDemo(cwd)
const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] })
try {
  for (const state of STATES.filter(({ name }) => only.length === 0 || only.some((start) => name.startsWith(start)))) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ colorScheme, viewport: { width: 1_440, height: 900 } })
      const page = await context.newPage()
      await page.goto(gateway.url + state.path)
      await state.show(page)
      for (const width of WIDTHS.toReversed()) {
        await page.setViewportSize({ width, height: 900 })
        // Scrolls to the focus, because the state is about the focused element.
        await page.evaluate(() => document.activeElement?.scrollIntoView({ block: 'nearest' }))
        await page.screenshot({
          path: join(folder, `${state.name}-${width}-${colorScheme}.png`),
          animations: 'disabled',
        })
      }
      await context.close()
    }
    console.log(state.name)
  }
} finally {
  await browser.close()
  await gateway.kill('SIGKILL')
  removeDirectory(cwd)
}
