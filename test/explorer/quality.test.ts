// Every page at two widths and in both themes: what it weighs, how soon it can be used, and whether everybody can use it.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { serveForTest } from '../support/command-line.ts'
import { type CountingWire, countingWire, type Traffic } from '../support/counting-wire.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Of one page, the first time, as it goes over the wire. */
const MOST_BYTES = 1_500_000
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
  { name: 'graphiql', path: '/graphql', usable: '.graphiql-query-editor .view-line' },
  { name: 'workspace', path: '/workspace', usable: '.item' },
  { name: 'project', path: '/workspace?show=projects&open=roastery-site', usable: '.preview .line' },
  { name: 'docs', path: '/docs', usable: '.operation' },
]

describe.skipIf(CHROMIUM === undefined)('every page', () => {
  test.each(PAGES)('$name is light the first time, and nothing is fetched again the second', async (row) => {
    const { url } = await serveForTest([], { cwd: temporaryDirectory() })
    const wire = await countingWire(url)
    const page = await (await openBrowser(wire.url)).newPage()
    const first = await load(page, wire, row)
    const second = await load(page, wire, row)
    const filesAgain = second.paths.filter((path) => path.startsWith('/assets/'))
    console.log(
      `${row.name}: first ${kilobytes(first.bytes)} in ${first.paths.length} requests, usable after ${first.usableMs} ms; ` +
        `second ${kilobytes(second.bytes)} in ${second.paths.length}, usable after ${second.usableMs} ms`,
    )
    expect(first.bytes).toBeLessThan(MOST_BYTES)
    expect(first.usableMs).toBeLessThan(USABLE_WITHIN_MS * SLOW_MACHINE)
    expect(filesAgain).toEqual([])
  })

  for (const width of [360, 1_600]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`has no serious fault of accessibility at ${width} pixels, ${colorScheme}`, async () => {
        const { url } = await serveForTest([], { cwd: temporaryDirectory() })
        const page = await (await openBrowser(url, { width, colorScheme })).newPage()
        for (const { name, path, usable } of PAGES) {
          await page.goto(url + path)
          await page.locator(usable).first().waitFor()
          if (name === 'rosetta') await page.locator('.account > button').click()
          // Axe measures colours: let those that change come to rest.
          await page.waitForTimeout(400)
          expect(await violations(page), `${name} ${width} ${colorScheme}`).toEqual([])
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect(overflow, `${name} is wider than the window`).toBeLessThanOrEqual(0)
          if (PICTURES !== undefined) {
            mkdirSync(PICTURES, { recursive: true })
            await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png` })
          }
        }
      })
    }
  }
})

/** A machine that runs all tests at once is not the one a person sits at. */
const SLOW_MACHINE = 4

interface Load extends Traffic {
  readonly usableMs: number
}

async function load(page: Page, { url, traffic }: CountingWire, { path, usable }: PageRow): Promise<Load> {
  const began = performance.now()
  await page.goto(url + path)
  await page.locator(usable).first().waitFor()
  const usableMs = Math.round(performance.now() - began)
  // Workers are fetched after the page can be used.
  await page.waitForTimeout(1_500)
  return { ...traffic(), usableMs }
}

async function violations(page: Page): Promise<readonly unknown[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const axe: { run: () => Promise<{ violations: readonly Violation[] }> } = Reflect.get(window, 'axe')
    interface Violation {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
    }
    const { violations: found } = await axe.run()
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => [
        id,
        nodes.slice(0, 3).map(({ html, failureSummary }) => [html.slice(0, 200), failureSummary]),
      ])
  })
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`
}
