// Every page at two widths and in both themes: what it weighs, how soon it can be used, and whether everybody can use it.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { type CountingWire, countingWire } from '../support/counting-wire.ts'

/** Of one page, the first time, as it goes over the wire. */
const MOST_BYTES = 900_000
const USABLE_WITHIN_MS = 2_000
/** Where to put pictures of the pages; none are made without it. */
const PICTURES = process.env.PICTURES

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface PageRow {
  readonly name: string
  readonly path: string
  /** What is there once the page can be used. */
  readonly usable: string
}

const PAGES: readonly PageRow[] = [
  { name: 'rosetta', path: '/', usable: '.verdict.same' },
  { name: 'graphiql', path: '/graphql', usable: '.graphiql-query-editor .CodeMirror-line' },
  { name: 'workspace', path: '/workspace', usable: '.item' },
  { name: 'project', path: '/workspace?show=projects&open=roastery-site', usable: '.preview .line' },
  { name: 'docs', path: '/docs', usable: '.operation' },
]

const WIDTHS: readonly number[] = [360, 1_600]

describe.skipIf(CHROMIUM === undefined)('every page', () => {
  const browser = shareBrowser()
  const gateway = shareDemoGateway()

  test.each(PAGES)('$name is light, is fetched once, and has no serious fault of accessibility', async (row) => {
    const wire = await countingWire(gateway.url())
    const page = await (await browser.open(wire.url)).newPage()
    const firstMs = await load(page, wire, row)
    const faults = await faultsOf(page, row, 'light', WIDTHS)
    const first = wire.traffic()
    await page.emulateMedia({ colorScheme: 'dark' })
    const secondMs = await load(page, wire, row)
    const second = wire.traffic()
    faults.push(...(await faultsOf(page, row, 'dark', WIDTHS)))
    // A theme may change while somebody looks at the page.
    await page.emulateMedia({ colorScheme: 'light' })
    faults.push(...(await faultsOf(page, row, 'light', WIDTHS.slice(-1))))

    const filesAgain = second.paths.filter((path) => path.startsWith('/assets/'))
    console.log(
      `${row.name}: first ${kilobytes(first.bytes)} in ${first.paths.length} requests, usable after ${firstMs} ms; ` +
        `second ${kilobytes(second.bytes)} in ${second.paths.length}, usable after ${secondMs} ms`,
    )
    expect(first.bytes).toBeLessThan(MOST_BYTES)
    expect(firstMs).toBeLessThan(USABLE_WITHIN_MS * SLOW_MACHINE)
    expect(filesAgain).toEqual([])
    expect(faults).toEqual([])
  })
})

/** A machine that runs all tests at once is not the one a person sits at. */
const SLOW_MACHINE = 4

/** Workers are fetched after the page can be used, each a moment after the one before. */
const QUIET_MS = 1_500

/** Answers how long it took until the page could be used, in milliseconds; by then it has fetched all it fetches. */
async function load(page: Page, { url, quietMs }: CountingWire, { path, usable }: PageRow): Promise<number> {
  const began = performance.now()
  await page.goto(url + path)
  await page.locator(usable).first().waitFor()
  const usableMs = Math.round(performance.now() - began)
  while (quietMs() < QUIET_MS) await page.waitForTimeout(100)
  return usableMs
}

/** Serious and critical ones that axe finds at these widths, and whatever makes the page wider than the window. */
async function faultsOf(
  page: Page,
  { name, usable }: PageRow,
  colorScheme: 'light' | 'dark',
  widths: readonly number[],
): Promise<string[]> {
  const faults: string[] = []
  await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
  await page.locator(usable).first().waitFor()
  const closedAccount = page.locator('.account > button[aria-expanded=false]')
  if (name === 'rosetta' && (await closedAccount.count()) > 0) await closedAccount.click()
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    await colorsAtRest(page)
    const found = [...(await violations(page)), ...(await overflow(page))]
    faults.push(...found.map((fault) => `${width} pixels, ${colorScheme}: ${fault}`))
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png` })
    }
  }
  return faults
}

/** Axe measures colours, and some of them change slowly. */
async function colorsAtRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const changing = document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    await Promise.allSettled(changing.map(({ finished }) => finished))
  })
}

async function violations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  return page.evaluate(async () => {
    const axe: { run: (options: object) => Promise<{ violations: readonly Violation[] }> } = Reflect.get(window, 'axe')
    interface Violation {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
    }
    const { violations: found } = await axe.run({ resultTypes: ['violations'] })
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        // An editor scrolls with its cursor; the text area that has the focus stands beside the box, not in it.
        nodes
          .filter(
            ({ html }) => id !== 'scrollable-region-focusable' || !html.startsWith('<div class="CodeMirror-scroll'),
          )
          .slice(0, 3)
          .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      )
  })
}

async function overflow(page: Page): Promise<readonly string[]> {
  const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  return pixels > 0 ? [`${pixels} pixels wider than the window`] : []
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`
}
