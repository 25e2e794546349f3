// Measures every page at two widths and in both themes: its bytes, its time until usable, and its accessibility.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { overflow, violations } from '../support/axe.ts'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { type CountingWire, countingWire } from '../support/counting-wire.ts'

interface PageRow {
  readonly name: string
  readonly path: string
  /** A selector that matches once the page can be used. */
  readonly usable: string
  /** The limits for the bytes on the wire, headers included. */
  readonly mostBytes: number
  readonly mostBytesAgain: number
}

const SMALL = { mostBytes: 200_000, mostBytesAgain: 20_000 }

const PAGES: readonly PageRow[] = [
  { name: 'rosetta', path: '/', usable: '.verdict.same', ...SMALL, mostBytes: 130_000 },
  {
    name: 'graphiql',
    path: '/graphql',
    usable: '.graphiql-query-editor .CodeMirror-line',
    mostBytes: 500_000,
    mostBytesAgain: 20_000,
  },
  { name: 'workspace', path: '/workspace', usable: '.item', ...SMALL },
  { name: 'project', path: '/workspace?show=projects&open=roastery-site', usable: '.preview .line', ...SMALL },
  { name: 'docs', path: '/docs', usable: '.operation', ...SMALL },
]

const WIDTHS: readonly number[] = [360, 1_600]

describe.skipIf(CHROMIUM === undefined)('every page', () => {
  const browser = shareBrowser()
  const gateway = shareDemoGateway()

  test.each(PAGES)('$name is light, loads its files once, and has no serious accessibility fault', async (row) => {
    const wire = await countingWire(gateway.url())
    const page = await (await browser.open(wire.url)).newPage()
    await page.addInitScript(noteUsable, row.usable)
    await browser.rest()
    const firstMs = await load(page, wire, row)
    const faults = await faultsOf(page, row, 'light', WIDTHS)
    const first = wire.traffic()
    await page.emulateMedia({ colorScheme: 'dark' })
    const secondMs = await load(page, wire, row)
    const second = wire.traffic()
    faults.push(...(await faultsOf(page, row, 'dark', WIDTHS)))
    // The theme may change while the page is open.
    await page.emulateMedia({ colorScheme: 'light' })
    faults.push(...(await faultsOf(page, row, 'light', WIDTHS.slice(-1))))

    const what = row.path === '/' ? 'first useful answer' : 'usable'
    const filesAgain = second.paths.filter((path) => path.startsWith('/assets/'))
    console.log(
      `${row.name}: first ${kilobytes(first.bytes)} in ${first.paths.length} requests, ${what} after ${firstMs} ms; ` +
        `second ${kilobytes(second.bytes)} in ${second.paths.length}, after ${secondMs} ms`,
    )
    expect(first.bytes).toBeLessThan(row.mostBytes)
    expect(second.bytes).toBeLessThan(row.mostBytesAgain)
    if (row.path === '/') expect(first.paths.length).toBeLessThanOrEqual(15)
    expect(filesAgain).toEqual([])
    expect(faults).toEqual([])
  })
})

/** Workers are loaded after the page can be used, each a moment after the previous one. */
const QUIET_MS = 500

/** Returns the milliseconds until the page was usable and drawn, by its own clock; by then it has loaded everything. */
async function load(page: Page, { url, quietMs }: CountingWire, { path, usable }: PageRow): Promise<number> {
  await page.goto(url + path)
  await page.locator(usable).first().waitFor()
  const usableMs = Math.round(await page.evaluate(() => Reflect.get(window, 'usable') as Promise<number>))
  while (quietMs() < QUIET_MS) await page.waitForTimeout(100)
  return usableMs
}

/** Runs in the page and notes when the usable part was drawn. Polling from outside would add its own time. */
function noteUsable(selector: string): void {
  const { promise, resolve } = Promise.withResolvers<number>()
  Reflect.set(window, 'usable', promise)
  const observer = new MutationObserver(() => {
    if (document.querySelector(selector) === null) return
    observer.disconnect()
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.now())
      port2.postMessage(null)
    })
  })
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] })
}

/** Returns serious and critical faults that axe finds at these widths, and elements that are wider than the window. */
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
    const found = [...(await violations(page)), ...(await overflow(page))]
    faults.push(...found.map((fault) => `${width} pixels, ${colorScheme}: ${fault}`))
  }
  return faults
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`
}
