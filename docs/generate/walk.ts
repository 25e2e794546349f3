// npm run docs:walk: the walk of 20 seconds in the README, from the real pages with the demo workspace. It needs Chromium, and img2webp of
// Debian's package webp.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const OUTPUT = fileURLToPath(new URL('../walk.webp', import.meta.url))
const SECONDS_EACH = 2.2

/** What is shown, one picture after the other; each step leads to the next picture. */
const STEPS: readonly ((page: Page) => Promise<unknown>)[] = [
  async (page) => {
    await page.getByRole('button', { name: 'Dismiss' }).click()
    // The first answer of a process that has just started is slower than those that people see.
    for (let times = 0; times < 3; times += 1) {
      await page.locator('.verdict.same').waitFor()
      await page.getByRole('button', { name: 'Run both' }).click()
    }
    await page.locator('.verdict.same').waitFor()
  },
  async (page) => {
    await page.locator('.routes button', { hasText: '/exports' }).click()
    await page.locator('.verdict.same', { hasText: 'documents' }).waitFor()
  },
  async (page) => {
    await page.getByLabel('REST request: language').selectOption('Python')
    await page.locator('.rest .snippet-text', { hasText: 'import' }).waitFor()
  },
  async (page) => {
    await page.getByRole('link', { name: 'GraphiQL' }).click()
    await page.locator('.graphiql-response .t-string').first().waitFor()
  },
  async (page) => {
    await page.getByRole('button', { name: 'Show Query builder' }).click()
    await page.getByRole('checkbox', { name: 'tags [String!]' }).first().check()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: /Execute query/ }).click()
    await page.locator('.graphiql-response', { hasText: 'tags' }).waitFor()
  },
  async (page) => {
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
  },
  async (page) => {
    await page.locator('.item', { hasText: 'Quillmoor' }).click()
    await page.getByRole('treeitem', { name: 'Hero.tsx' }).click()
    await page.locator('.preview .line span span[class]').first().waitFor()
  },
  async (page) => {
    await page.getByRole('link', { name: 'Reference' }).click()
    await page.locator('.operation').first().waitFor()
  },
  async (page) => {
    await page.getByLabel('Dark theme').check()
    await page.getByRole('link', { name: 'REST ↔ GraphQL' }).click()
    await page.locator('.verdict.same').waitFor()
  },
]

const folder = mkdtempSync(join(tmpdir(), 'walk-'))
const gateway = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], { cwd: folder })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } })
  await page.goto(await listening())
  const pictures: string[] = []
  for (const step of STEPS) {
    await step(page)
    await page.mouse.move(0, 0)
    await page.waitForLoadState('networkidle')
    const picture = join(folder, `${pictures.length}.png`)
    await page.screenshot({ path: picture, animations: 'disabled' })
    pictures.push(picture)
  }
  const timing = ['-d', String(SECONDS_EACH * 1_000)]
  execFileSync('img2webp', [
    '-loop',
    '0',
    '-kmin',
    '0',
    '-kmax',
    '1',
    '-lossy',
    '-q',
    '60',
    '-m',
    '6',
    ...timing,
    ...pictures,
    '-o',
    OUTPUT,
  ])
} finally {
  await browser.close()
  gateway.kill()
  await once(gateway, 'close')
  rmSync(folder, { recursive: true })
}

async function listening(): Promise<string> {
  for await (const line of createInterface(gateway.stdout)) {
    const url = /^listening on (\S+)$/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('the gateway did not start')
}
