// Tests long lists in a browser: one tab stop with arrow keys, every row reachable, no silent truncation.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const CHANGED = 1_200
const LINES = 3_500
/** The hint that is visible while a list has the focus. */
const KEYS = 'Arrow keys go from row to row.'

describe.skipIf(CHROMIUM === undefined)('a list', () => {
  const browser = shareBrowser()

  test('of projects or exports has one row in the tab order; arrow keys, Home and End reach the others', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    await gateway.load(
      Array.from({ length: 400 }, (_, index) =>
        documentLine('project', ANA, JSON.stringify({ id: `p${index}`, ref: `p${index}`, name: `Project ${index}` })),
      ).join('') + Array.from({ length: 60 }, (_, index) => exported(index, [])).join(''),
    )
    const page = await open(gateway, '/workspace?sort=name')
    await page.locator('.item').first().waitFor()
    expect(await page.locator('.items [tabindex="0"]').count()).toBe(1)
    await page.locator('.items [tabindex="0"]').focus()
    expect(await focused(page)).toMatch(/^Project 0\b/)
    for (const [key, name] of [
      ['ArrowDown', 'Project 1'],
      ['End', 'Project 399'],
      ['ArrowDown', 'Project 399'],
      ['PageUp', 'Project 389'],
      ['ArrowUp', 'Project 388'],
      ['Home', 'Project 0'],
      ['End', 'Project 399'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(() => focused(page), { message: `after ${key}` }).toMatch(new RegExp(`^${name}\\b`))
    }
    // Shift+Tab leaves the list, and Tab returns to the same row.
    await page.keyboard.press('Shift+Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('.items') ?? null)).toBeNull()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toMatch(/^Project 399\b/)
    await page.getByText(KEYS).waitFor()
    await page.keyboard.press('Shift+Tab')
    await page.getByText(KEYS).waitFor({ state: 'hidden' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Project 399' }).waitFor()

    await page.goto(`${gateway.url}/workspace?show=projects&open=p0&tab=exports`)
    const boxes = page.getByRole('checkbox', { name: 'Compare the export of' })
    await boxes.first().focus()
    for (const key of ['Space', 'ArrowDown', 'End']) await page.keyboard.press(key)
    await page.locator('.exports [aria-posinset="60"] input:focus').press('Space')
    await page.getByText('Two are chosen.').waitFor()
    await page.getByText(KEYS).waitFor()
    expect(await boxes.last().isChecked()).toBe(true)
    expect(await page.locator('.exports [tabindex="0"]').count()).toBe(2)
  })

  test('of changed files can be reached to its end, and a truncated diff says so', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const files = (text: string) =>
      Array.from({ length: CHANGED }, (_, index) => JSON.stringify({ path: `file-${index}.txt`, content: text }))
    const long = (text: string) =>
      JSON.stringify({
        path: 'a-long-one.txt',
        content: `${text}\n`.repeat(LINES / 2),
      })
    await gateway.load(
      documentLine('project', ANA, '{"id":"p0","ref":"p0","name":"P"}') +
        exported(0, [...files('old'), long('old')]) +
        exported(1, [...files('new'), long('new')]),
    )
    const page = await open(gateway, '/workspace?show=projects&open=p0&tab=exports')
    for (const index of [0, 1]) await page.getByRole('checkbox', { name: 'Compare the export of' }).nth(index).check()
    await page.getByRole('button', { name: 'Compare' }).click()
    // The first changed file has 3,500 lines and their heading, of which 3,000 are drawn.
    await page.locator('.diff', { hasText: 'Cut here: 501 more lines' }).waitFor()
    expect(await page.locator('.diff pre span').count()).toBe(3_000)
    expect(await page.locator('.changes li').count()).toBeLessThan(100)
    await page.locator('.changes [tabindex="0"]').focus()
    await page.keyboard.press('End')
    await expect.poll(() => focused(page)).toContain(`file-${CHANGED - 1}.txt`)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: `What changed in file-${CHANGED - 1}.txt` }).waitFor()
    expect(await page.locator('.diff').innerText()).not.toContain('Cut here')
    expect(await page.locator('.changes [aria-current]').innerText()).toContain(`file-${CHANGED - 1}.txt`)
    // After a reload, the address brings the same file into view.
    await page.reload()
    await page.locator('.changes [aria-current]', { hasText: `file-${CHANGED - 1}.txt` }).waitFor()
  })

  test('F25: a list has relative dates, is sorted by change or export, which is a change too, or by name, and filtered', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const project = (id: string, framework: string, updatedAt: string) =>
      documentLine('project', ANA, JSON.stringify({ id, ref: id, name: id, framework, updatedAt }))
    await gateway.load(
      project('Never exported', `vue  ${'3'.repeat(200)}`, ago(5)) +
        project('Old export', 'next', ago(3)) +
        project('New export', 'next', ago(20)) +
        documentLine('template', ANA, JSON.stringify({ id: 't', name: 'T', updatedAt: ago(2) })) +
        exportLine(ANA, { r: 'Old export', createdAt: ago(30), elements: [] }) +
        exportLine(ANA, { r: 'New export', createdAt: ago(10), elements: [] }),
    )
    const page = await open(gateway, '/workspace')
    const names = () => page.locator('.item .name').allInnerTexts()
    await expect.poll(names).toEqual(['Old export', 'Never exported', 'New export'])
    expect(await page.locator('.item').first().innerText()).toContain('3 days ago')
    expect(await page.locator('.item').last().innerText()).toContain('10 days ago')
    const sort = page.getByLabel('Sort by')
    expect(await sort.inputValue()).toBe('changed')
    await sort.selectOption('Last exported')
    await expect.poll(names).toEqual(['New export', 'Old export', 'Never exported'])
    expect(await page.locator('.item').allInnerTexts()).toEqual([
      expect.stringContaining('exported 10 days ago'),
      expect.stringMatching(/exported (?:30 days ago|last month)/),
      expect.stringMatching(/no export yet$/),
    ])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('exported')
    await page.reload()
    await expect.poll(names).toEqual(['New export', 'Old export', 'Never exported'])
    await page.locator('.item', { hasText: 'Old export' }).click()
    await page.getByRole('heading', { name: 'Old export' }).waitFor()
    await page.getByText('This export holds no files').waitFor()
    await page.getByRole('navigation', { name: 'Way back' }).getByRole('button').click()
    await expect.poll(names).toEqual(['New export', 'Old export', 'Never exported'])
    await sort.selectOption('Name')
    await expect.poll(names).toEqual(['Never exported', 'New export', 'Old export'])
    const framework = page.getByLabel('Framework')
    // A name with two spaces is found, and a long one leaves the field beside its label.
    await framework.selectOption({ index: 2 })
    await expect.poll(names).toEqual(['Never exported'])
    expect((await framework.boundingBox())?.y).toBe((await sort.boundingBox())?.y)
    await framework.selectOption('next')
    await expect.poll(names).toEqual(['New export', 'Old export'])
    // The overview has another word for an update.
    await page.locator('.item', { hasText: 'New export' }).click()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    const facts = page.locator('.project-facts > div')
    await facts.first().waitFor()
    const told = (await facts.allInnerTexts()).map((fact) => fact.split('\n'))
    expect(told.slice(-2)).toEqual([
      ['Updated', '20 days ago'],
      ['Newest export', '10 days ago'],
    ])
    // Documents without exports are not sorted by them, whatever the address says.
    await page.goto(`${gateway.url}/workspace?show=templates&sort=exported`)
    await page.locator('.item', { hasText: '2 days ago' }).waitFor()
    expect(await page.getByLabel('Sort by').locator('option').allInnerTexts()).toEqual([
      'Last changed',
      'Name',
      'Stored order',
    ])
  })

  test('F23: a list is no higher than its rows; without a match it says so and offers a way back', async () => {
    const gateway = await startGateway({ demoEmail: ANA })
    const names = ['One', 'Two']
    await gateway.load(
      names.map((name) => documentLine('uiLibrary', ANA, JSON.stringify({ id: name, name }))).join('') +
        documentLine('template', ANA, '{"id":"t","name":"T"}'),
    )
    const page = await open(gateway, '/workspace')
    // Nobody has searched yet, so the page must not say that nothing matches.
    await page.getByRole('heading', { name: 'No projects here yet', exact: true }).waitFor()
    expect(await page.locator('main').innerText()).not.toContain('Nothing fits')
    expect(await page.locator('.items, .filters').count()).toBe(0)
    await page.locator('.tabs a', { hasText: 'UI libraries' }).click()
    await page.locator('.item').nth(1).waitFor()
    const [list, item] = [await page.locator('.items').boundingBox(), await page.locator('.item').first().boundingBox()]
    expect(list?.height).toBeLessThan(2 * (item?.height ?? 0) + 20)
    await page.getByLabel('Search').fill('three')
    await page.getByRole('heading', { name: 'Nothing fits' }).waitFor()
    expect(await page.locator('.items').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.locator('.item').nth(1).waitFor()
    expect(await page.getByLabel('Search').inputValue()).toBe('')
  })

  async function open({ url }: TestGateway, address: string): Promise<Page> {
    const page = await (await browser.open(url)).newPage()
    await page.goto(url + address)
    return page
  }
})

function ago(days: number): string {
  return new Date(Date.now() - days * 86_400_000 - 60_000).toISOString()
}

/** An export of the first project, one day newer than the one before. */
function exported(index: number, elements: readonly string[]): string {
  const createdAt = new Date(Date.UTC(2026, 0, 1 + index)).toISOString()
  return exportLine(ANA, { r: 'p0', createdAt, elements })
}

function focused(page: Page): Promise<string> {
  return page.evaluate(() => (document.activeElement as HTMLElement).innerText)
}
