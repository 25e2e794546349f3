// Tests that a search in the reference before a sign-in is kept for the user, beside the headers they wrote earlier.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, signOut } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, BEN, SMALL_WORLD } from '../../support/workspaces.ts'

describe.skipIf(CHROMIUM === undefined)('the reference before a sign-in', () => {
  const browser = shareBrowser()

  test('keeps a search when the user signs in there', async () => {
    const page = await open()
    await search(page).fill('exports')
    await signInHere(page, ANA)
    expect(await search(page).inputValue()).toBe('exports')
  })

  test('keeps a search beside the headers that the user wrote earlier, and shows it to no other user', async () => {
    const page = await open()
    await signInHere(page, ANA)
    const exports = page.locator('#getExports')
    const headers = exports.locator('.own-headers summary')
    await headers.click()
    await exports.getByRole('button', { name: 'Add a header' }).click()
    await page.keyboard.insertText('X-Mine')
    await search(page).fill('projects')
    await signOut(page)
    await page.locator('.try-sign-in').first().waitFor()
    expect(await search(page).inputValue()).toBe('')
    await search(page).fill('exports')
    await signInHere(page, ANA)
    expect(await search(page).inputValue()).toBe('exports')
    expect(await headers.innerText()).toBe('Request headers (1)')
    await signOut(page)
    await signInHere(page, BEN)
    expect(await search(page).inputValue()).toBe('')
    expect(await headers.innerText()).toBe('Request headers')
    await search(page).fill('exports of ben')
    await signOut(page)
    await signInHere(page, ANA)
    expect(await search(page).inputValue()).toBe('exports')
    expect(await headers.innerText()).toBe('Request headers (1)')
  })

  async function open(): Promise<Page> {
    const { url, load } = await startGateway()
    await load(SMALL_WORLD)
    const page = await (await browser.open(url)).newPage()
    await page.goto(`${url}/docs`)
    return page
  }
})

function search(page: Page) {
  return page.getByRole('searchbox', { name: 'Search the reference' })
}

/** Signs in with the form of the first operation. */
async function signInHere(page: Page, email: string): Promise<void> {
  const form = page.locator('.try-sign-in').first()
  await form.getByText('Sign in to try it here').click()
  await form.locator('input[type=email]').fill(email)
  await form.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.account .email', { hasText: email }).waitFor()
  await page.locator('.own-headers').first().waitFor()
}
