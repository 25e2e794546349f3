// Tests that links, reload and back restore the scroll position, which is in the address or in the history entry.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../../support/browser.ts'
import { shareDemoGateway } from '../../support/command-line.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { documentLine, exportLine } from '../../support/workspaces.ts'

const EVE = 'eve@example.com'
const FILES = '/workspace?show=projects&open=p'

describe.skipIf(CHROMIUM === undefined)('the scroll position', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('in a file is its line: in a link and after a reload, but not for the next file', async () => {
    const { page, gateway } = await openBig(`${FILES}&file=big.txt`)
    await page.locator('.preview .line').first().waitFor()
    expect(await parameter(page, 'line')).toBeNull()
    await scrollLines(page, 12_000)
    await expect.poll(() => parameter(page, 'line')).not.toBeNull()
    const line = await parameter(page, 'line')
    expect(await firstLine(page)).toBe(line)
    expect(Number(line)).toBeGreaterThan(600)
    const link = page.url()
    await page.reload()
    await expect.poll(() => firstLine(page)).toBe(line)
    const other = await page.context().newPage()
    await other.goto(link)
    await expect.poll(() => firstLine(other)).toBe(line)
    expect(other.url()).toBe(link)
    await other.goto(`${gateway.url}${FILES}&file=big.txt&line=15000`)
    await expect.poll(() => firstLine(other)).toBe('15000')
    // An invalid line means the beginning.
    await other.goto(`${gateway.url}${FILES}&file=big.txt&line=0x10`)
    await expect.poll(() => firstLine(other)).toBe('1')
    await page.getByRole('treeitem', { name: 'one-line.js' }).click()
    await page.locator('.preview .number', { hasText: '↪' }).first().waitFor()
    expect(await parameter(page, 'line')).toBeNull()
    await scrollLines(page, 3_000)
    await expect.poll(async () => String(await parameter(page, 'line'))).toMatch(/^1\.1\d\d$/)
    const piece = await parameter(page, 'line')
    await page.reload()
    await page.locator('.preview .line').first().waitFor()
    await expect.poll(() => page.locator('.preview .lines').evaluate((lines) => lines.scrollTop)).toBeGreaterThan(2_900)
    expect(await parameter(page, 'line')).toBe(piece)
    await page.goto(`${gateway.url}${FILES}&tab=document&line=40`)
    await expect.poll(() => firstLine(page)).toBe('40')
  })

  test('in a list is its row: with back, a reload, a link, and the button to the list', async () => {
    const { page } = await openBig('/workspace?show=projects&q=project&sort=name')
    await page.getByText('300 of 301').waitFor()
    await page.locator('.items').evaluate((list) => list.scrollTo(0, 68 * 100))
    // The project is opened before the scroll position settles, and it is still written for the list.
    await page.locator('.item', { hasText: /^Project 102/ }).click()
    await page.getByRole('heading', { name: 'Project 102' }).waitFor()
    expect(await parameter(page, 'row')).toBeNull()
    for (const back of [
      () => page.goBack(),
      () => page.reload(),
      async () => {
        await page.locator('.item', { hasText: /^Project 101/ }).click()
        await page.getByRole('heading', { name: 'Project 101' }).waitFor()
        await page.getByRole('button', { name: 'Projects', exact: true }).click()
      },
    ]) {
      await back()
      await page.getByText('300 of 301').waitFor()
      await expect.poll(() => page.locator('.items').evaluate((list) => list.scrollTop)).toBe(68 * 100)
      await page.locator('.item', { hasText: /^Project 101/ }).waitFor()
      expect(await parameter(page, 'row')).toBe('101')
    }
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.locator('.item', { hasText: /^Project 101/ }).waitFor()
  })

  test('in the exports of a project is its row, and in a comparison its line', async () => {
    const { page } = await openBig(`${FILES}&tab=exports`)
    await page.locator('.exports a').first().waitFor()
    await page.locator('.exports').evaluate((list) => list.scrollTo(0, 46 * 20))
    await expect.poll(() => parameter(page, 'row')).toBe('21')
    await page.reload()
    await expect.poll(() => page.locator('.exports').evaluate((list) => list.scrollTop)).toBe(46 * 20)
    await page.goto(page.url().replace(/&row=.*/, ''))
    await page.locator('.exports a').first().waitFor()
    for (const box of (await page.getByRole('checkbox', { name: 'Compare the export of' }).all()).slice(1, 3)) {
      await box.check()
    }
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.locator('.diff .plus').first().waitFor()
    await page.locator('.diff').evaluate((diff) => diff.scrollTo(0, 2_000))
    await expect.poll(() => parameter(page, 'line')).not.toBeNull()
    const top = await page.locator('.diff').evaluate((diff) => diff.scrollTop)
    await page.reload()
    await page.locator('.diff .plus').first().waitFor()
    await expect.poll(() => page.locator('.diff').evaluate((diff) => diff.scrollTop)).toBeGreaterThan(top - 25)
  })

  test('in the reference is its section, also of a link that is followed there, and exact with back and a reload', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(`${demo.url()}/docs`)
    const section = page.locator('#getExports')
    await section.waitFor()
    await page.evaluate((to) => location.assign(to), `${demo.url()}/docs#getExports`)
    const topOfSection = () => section.evaluate((one) => Math.round(one.getBoundingClientRect().top))
    await expect.poll(topOfSection).toBe(71)
    // The pages restore positions in the frames after a visit.
    for (let frame = 0; frame < 3; frame += 1)
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
    expect(await topOfSection()).toBe(71)
    await page.goBack()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)

    const top = await section.evaluate((one) => {
      const at = Math.round(one.getBoundingClientRect().top + scrollY + 40)
      scrollTo(0, at)
      return at
    })
    await expect.poll(() => new URL(page.url()).hash).toBe('#getExports')
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
    await page.goBack()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(top)
    await page.reload()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(top)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await expect
      .poll(() => other.locator('#getExports').evaluate((section) => Math.round(section.getBoundingClientRect().top)))
      .toBe(71)
    // The last section cannot scroll to the top, but the address keeps the name of that section.
    await other.getByRole('link', { name: 'Errors' }).click()
    await expect.poll(() => other.evaluate(() => scrollY)).toBeGreaterThan(top)
    await other.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)))
    expect(new URL(other.url()).hash).toBe('#errors')
  })

  test('on the first page is kept with the history', async () => {
    const page = await (await browser.open(demo.url(), { viewport: { width: 1_280, height: 500 } })).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await page.evaluate(() => scrollTo(0, 220))
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    await page.goBack()
    await waitForAgreement(page)
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(220)
    await page.goForward()
    await page.locator('.item').first().waitFor()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  })

  test('is written when the user stops scrolling, not with each step, and kept even if the page is left at once', async () => {
    const { page } = await openBig(`${FILES}&file=big.txt`)
    await page.locator('.preview .line').first().waitFor()
    const writes = await countWrites(page)
    await page.evaluate(async () => {
      const lines = document.querySelector('.preview .lines')
      for (let step = 1; step <= 60; step += 1) {
        lines?.scrollTo(0, step * 400)
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
    })
    expect(await writes()).toBeLessThan(10)
    await expect.poll(async () => String(await parameter(page, 'line'))).toMatch(/^12\d\d$/)
    await page.evaluate(async () => {
      document.querySelector('.preview .lines')?.scrollTo(0, 12_000)
      for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
      const links = [...document.querySelectorAll<HTMLElement>('nav a')]
      links.find(({ textContent }) => textContent === 'REST ↔ GraphQL')?.click()
    })
    await waitForAgreement(page)
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.preview .line').first().waitFor()
    expect(String(await parameter(page, 'line'))).toMatch(/^6\d\d$/)
  })

  test('and typed text are written as often as browsers allow, and in full', async () => {
    const { page } = await openBig('/workspace?show=projects')
    await page.locator('.item').first().waitFor()
    const search = page.getByRole('searchbox', { name: 'Search' })
    const writes = await countWrites(page)
    const startedAt = performance.now()
    for (let round = 0; round < 20; round += 1) for (const words of ['b', 'bi', 'big']) await search.fill(words)
    await expect.poll(() => parameter(page, 'q')).toBe('big')
    await page.getByRole('link', { name: 'REST ↔ GraphQL' }).click()
    await waitForAgreement(page)
    const query = page.getByRole('textbox', { name: /GraphQL query/ })
    for (let round = 0; round < 40; round += 1) await query.fill(`{ me { id } } # ${round}`)
    await expect.poll(() => page.url()).toContain('39')
    // Safari refuses more than 100 writes in 30 s.
    expect(await writes()).toBeLessThan(30 + (performance.now() - startedAt) / 400)
    // A page that is left at once is restored as it was.
    await query.fill('{ me { email } }')
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.locator('.item').first().waitFor()
    await page.goBack()
    await query.waitFor()
    expect(await query.inputValue()).toBe('{ me { email } }')
  })

  /** Returns how often the address has been written since this call. */
  async function countWrites(page: Page): Promise<() => Promise<number>> {
    await page.evaluate(() => {
      const original = history.replaceState.bind(history)
      Reflect.set(window, 'writes', 0)
      history.replaceState = (...given) => {
        Reflect.set(window, 'writes', Reflect.get(window, 'writes') + 1)
        original(...given)
      }
    })
    return () => page.evaluate(() => Reflect.get(window, 'writes') as number)
  }

  async function openBig(address: string): Promise<{ readonly page: Page; readonly gateway: TestGateway }> {
    const gateway = await startGateway({ demoEmail: EVE })
    await gateway.load(big)
    const page = await (await browser.open(gateway.url)).newPage()
    await page.goto(gateway.url + address)
    return { page, gateway }
  }
})

let big = ''
beforeAll(() => {
  const text = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}`).join('\n')
  const elements = [
    { path: 'big.txt', content: text },
    { path: 'one-line.js', content: `const text = "${'ab '.repeat(300_000)}"` },
  ].map((element) => JSON.stringify(element))
  const projects = Array.from({ length: 300 }, (_, index) => `{"id":"p${index}","name":"Project ${index + 1}"}`)
  const before = Array.from({ length: 60 }, (_, index) =>
    exportLine(EVE, {
      r: 'p',
      createdAt: new Date(Date.UTC(2026, 0, 1 + index)).toISOString(),
      elements: [
        JSON.stringify({
          path: 'big.txt',
          content: text.replaceAll(/^line (\d*[05])$/gm, `was $1 in ${index}`).slice(0, 9_000),
        }),
      ],
    }),
  )
  big = [
    documentLine('project', EVE, JSON.stringify({ id: 'p', ref: 'p', name: 'Big', long: Array(200).fill('x') })),
    ...projects.map((project) => documentLine('project', EVE, project)),
    ...before,
    exportLine(EVE, { r: 'p', createdAt: '2026-12-01T00:00:00Z', elements }),
  ].join('')
})

async function parameter(page: Page, name: string): Promise<string | null> {
  return new URL(page.url()).searchParams.get(name)
}

/** The number of the first visible line. */
async function firstLine(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const scroller = document.querySelector('.lines')
    const top = (scroller?.getBoundingClientRect().top ?? 0) + 1
    const lines = [...document.querySelectorAll('.lines .line')]
    const first = lines
      .filter((line) => line.getBoundingClientRect().bottom > top + 10)
      .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)[0]
    return first?.querySelector('.number')?.textContent?.replace(/\D/g, '') ?? null
  })
}

async function scrollLines(page: Page, to: number): Promise<void> {
  await page.locator('.preview .lines').evaluate((lines, top) => lines.scrollTo(0, top), to)
}
