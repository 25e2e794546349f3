// Checks every page in every state, in both themes and in forced colours, at every width, with axe and for overflow:
// npm run test:explorer
import { chromium } from 'playwright-core'
import { overflow, violations } from '../../support/axe.ts'
import { CHROMIUM } from '../../support/browser.ts'
import { makeDirectory, removeDirectory } from '../../support/temporary-directory.ts'
import { serveHardDemo } from './gateway.ts'
import { STATES } from './states.ts'

/** The last width is 1,280 pixels at a zoom of 200 %. */
const WIDTHS = [320, 390, 768, 1_440, 1_920, 640]
const LOOKS = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'forced colours', options: { colorScheme: 'dark', forcedColors: 'active' } },
] as const

const only = process.argv.slice(2)
const cwd = makeDirectory()
const gateway = await serveHardDemo(cwd)
const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] })
let [looked, wrong] = [0, 0]
try {
  for (const state of STATES.filter(({ name }) => only.length === 0 || only.some((start) => name.startsWith(start)))) {
    for (const { name, options } of LOOKS) {
      const context = await browser.newContext({ ...options, viewport: { width: 1_440, height: 800 } })
      const page = await context.newPage()
      await page.goto(gateway.url + state.path)
      await state.show(page)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        // In forced colours the user's own colours apply, but axe judges ours.
        const found = (await violations(page)).filter(
          (fault) => !('forcedColors' in options && fault.startsWith('color-')),
        )
        const faults = [...found, ...(await overflow(page))]
        for (const fault of faults) console.log(`${state.name}, ${name}, ${width} pixels: ${fault}`)
        looked += 1
        wrong += faults.length
      }
      await context.close()
    }
  }
} finally {
  await browser.close()
  await gateway.kill('SIGKILL')
  removeDirectory(cwd)
}
console.log(`${STATES.length} states, ${looked} looks, ${wrong} faults`)
if (wrong > 0) process.exitCode = 1
