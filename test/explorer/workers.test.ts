// Tests work that runs in a worker beside the page: its progress, its cancellation, and its failures.
import { readFileSync } from 'node:fs'
import { unzipSync } from 'fflate'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signIn } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const FILES = 300
/** Longer than the text that the page itself lays out. */
const LONG = 'one line of many\n'.repeat(12_000)

describe.skipIf(CHROMIUM === undefined)('work beside the page', () => {
  const browser = shareBrowser()

  async function openExport(): Promise<Page> {
    const { url, load } = await startGateway()
    const random = createSeededRandom(13)
    const noise = () => Array.from({ length: 3_500 }, () => random.below(2 ** 31).toString(36)).join('')
    const elements = Array.from({ length: FILES }, (_, index) => ({ path: `src/${index}.txt`, content: noise() }))
    const lines = [{ path: 'README.md', content: '# Read me' }, { path: 'long.txt', content: LONG }, ...elements]
    await load(
      documentLine('project', ANA, '{"id":"p","ref":"p","name":"Pixel"}') +
        exportLine(ANA, {
          r: 'p',
          createdAt: '2026-01-01T00:00:00Z',
          elements: lines.map((one) => JSON.stringify(one)),
        }),
    )
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/workspace?show=projects&open=p`)
    await signIn(page, ANA)
    await page.locator('.preview .line', { hasText: 'Read me' }).waitFor()
    return page
  }

  test('F13: a zip is made in a worker, shows its progress, and can be cancelled', async () => {
    const page = await openExport()
    const downloads: string[] = []
    page.on('download', (download) => downloads.push(download.suggestedFilename()))
    const seen = await recordProgress(page)
    const held = Promise.withResolvers<void>()
    await page.route('**/zip-worker-*.js', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Download zip' }).click()
    await page.getByRole('progressbar', { name: 'Zipping' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Download zip' }).waitFor()
    expect(await page.getByRole('progressbar').count()).toBe(0)
    held.resolve()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download zip' }).click()
    const zip = unzipSync(readFileSync(await (await downloading).path()))
    expect(Object.keys(zip)).toHaveLength(FILES + 2)
    await page.getByRole('button', { name: 'Download zip' }).waitFor()
    expect((await seen()).filter((value) => value > 0 && value < 1)).not.toEqual([])
    // The cancelled zip was not downloaded.
    expect(downloads).toHaveLength(1)
  })

  test('a zip or a long text whose worker does not load says so, and works after a retry', async () => {
    const page = await openExport()
    for (const name of ['zip', 'text']) {
      await page.route(`**/${name}-worker-*.js`, (route) => route.abort(), { times: 1 })
    }
    await page.getByRole('button', { name: 'Download zip' }).click()
    await page.getByRole('alert').getByText('No zip was made.').waitFor()
    expect(await page.getByRole('progressbar').count()).toBe(0)
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download zip' }).click()
    await downloading
    expect(await page.getByText('No zip was made.').count()).toBe(0)
    await page.getByRole('treeitem', { name: 'long.txt' }).click()
    await page.getByRole('alert').getByText('This text could not be laid out').waitFor()
    expect(await page.getByText('Laying out').count()).toBe(0)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.preview .line', { hasText: 'one line of many' }).first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})

/** Records every value of the progress bar from now on. */
async function recordProgress(page: Page): Promise<() => Promise<readonly number[]>> {
  await page.evaluate(() => {
    const seen: number[] = []
    Reflect.set(window, 'progress', seen)
    const note = () => {
      const bar = document.querySelector('progress')
      if (bar) seen.push(bar.value)
    }
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true })
  })
  return () => page.evaluate(() => Reflect.get(window, 'progress') as readonly number[])
}
