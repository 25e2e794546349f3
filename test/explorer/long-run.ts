// Prints, for `npm run test:explorer`, the long tasks of the main thread with 3,000 projects, 200 exports,
// 20,000 files, a line of 5 MB and hard names. The times depend on the load of the machine: run nothing else beside it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../support/browser.ts'
import { run, serve } from '../support/command-line.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const EVE = 'eve@example.com'
const LONG_MS = 200

const directory = makeDirectory()
const database = ['--database', `file:${join(directory, 'workspace.db')}`]
const file = join(directory, 'workspace.ndjson')
writeFileSync(file, [...projects(), ...exports()].join(''))
await run(['import', file, ...database])
const gateway = await serve([...database, '--log-level', 'warn'])
const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
  await page.addInitScript(() => {
    const tasks: number[] = []
    Reflect.set(window, 'longTasks', tasks)
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
      buffered: true,
    })
  })
  await page.goto(`${gateway.url}/workspace`)
  await page.getByLabel('Email', { exact: true }).fill(EVE)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await report(page, 'sign in, 3,000 projects', () => page.locator('.item').first().waitFor())
  await report(page, 'search and scroll them', async () => {
    await page.getByLabel('Search').fill('project 29')
    await page.getByText('of 3,006').waitFor()
    await page.getByLabel('Search').fill('')
    await page.locator('.items').evaluate((list) => list.scrollTo(0, list.scrollHeight))
  })
  await open(page, 'files', 'open 20,000 files', '.preview .line')
  await report(page, 'find one by ⌘K, and open it', async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('searchbox').fill('component19999')
    await page.getByRole('option', { name: 'Component19999.tsx' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.file-path', { hasText: 'Component19999.tsx' }).waitFor()
  })
  await report(page, 'zip them', async () => {
    const downloading = page.waitForEvent('download', { timeout: 120_000 })
    await page.getByRole('button', { name: 'Download zip' }).click()
    await downloading
  })
  await open(page, 'line', 'open a line of 5 MB', '.preview .line')
  await report(page, 'wrap and search it', async () => {
    await page.getByRole('button', { name: 'Wrap lines' }).click()
    await page.locator('.lines').press('Control+f')
    await page.getByRole('textbox', { name: 'Find in' }).fill('needle')
    await page.getByText('1 of 1', { exact: true }).waitFor()
  })
  await open(page, 'many&tab=exports', '200 exports', '.exports a')
  await open(page, 'files&tab=exports', 'two exports of 20,000 files', '.exports a')
  await report(page, 'compare them', async () => {
    for (const index of [0, 1]) await page.getByRole('checkbox', { name: 'Compare the export of' }).nth(index).check()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('20,000 files differ').waitFor()
  })
  await goTo(page, '/?route=GET+%2Fexports&r=files')
  await report(page, 'compare REST and GraphQL of 20,000 files', () =>
    page.locator('.verdict.same').waitFor({ timeout: 120_000 }),
  )
  const query = '{ me { latestExport(ref: "line") { data } } }'
  await goTo(page, `/graphql#${new URLSearchParams({ query })}`)
  await report(page, 'a line of 5 MB in GraphiQL', () =>
    page.locator('.graphiql-response .line', { hasText: 'const text' }).first().waitFor({ timeout: 120_000 }),
  )
} finally {
  await browser.close()
  await gateway.kill('SIGKILL')
  removeDirectory(directory)
}

async function open(page: Page, reference: string, name: string, usable: string): Promise<void> {
  await report(page, name, async () => {
    await goTo(page, `/workspace?show=projects&open=${reference}`)
    await page.locator(usable).first().waitFor({ timeout: 120_000 })
  })
}

/** Changes the address without loading the page anew, which would sign the user out. */
async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, address)
}

async function report(page: Page, name: string, act: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  await act()
  const ms = Math.round(performance.now() - began)
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
  const tasks = await page.evaluate(() => (Reflect.get(window, 'longTasks') as number[]).splice(0))
  const wide = await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth))
  const long = tasks.filter((task) => task > LONG_MS)
  const longest = Math.round(Math.max(0, ...tasks))
  console.log(
    `${name}: ${ms} ms, longest task ${longest} ms, ${long.length} over ${LONG_MS} ms, ${wide} pixels too wide`,
  )
}

function projects(): readonly string[] {
  const names = ['x'.repeat(900), 'مشروع عربي', 'gpj.\u202eexe']
  const many = Array.from({ length: 3_000 }, (_, index) => ({ id: `p${index}`, name: `Project ${index}` }))
  const odd = names.map((name, index) => ({ id: `odd${index}`, name, description: name }))
  const opened = ['files', 'line', 'many'].map((ref) => ({ id: ref, ref, name: `The ${ref}` }))
  return [...many, ...odd, ...opened].map((project) => documentLine('project', EVE, JSON.stringify(project)))
}

function exports(): readonly string[] {
  const createdAt = '2026-01-01T00:00:00Z'
  const files = (value: number) =>
    Array.from({ length: 20_000 }, (_, index) =>
      JSON.stringify({
        path: `src/part${index % 100}/Component${index}.tsx`,
        content: `export const value = ${index + value}\n`,
      }),
    )
  const line = JSON.stringify({ path: 'one.js', content: `const text = "${'ab '.repeat(1_700_000)}needle"` })
  return [
    exportLine(EVE, { r: 'files', createdAt, elements: files(0) }),
    exportLine(EVE, { r: 'files', createdAt: '2026-01-02T00:00:00Z', elements: files(1) }),
    exportLine(EVE, { r: 'line', createdAt, elements: [line] }),
    ...Array.from({ length: 200 }, (_, index) =>
      exportLine(EVE, {
        r: 'many',
        createdAt: new Date(Date.UTC(2026, 0, 1) + index * 3_600_000).toISOString(),
        elements: [JSON.stringify({ path: 'a.txt', content: `${index}` })],
      }),
    ),
  ]
}
