// Tests all pages by keyboard: Tab reaches every control, each shows its focus, and none traps it.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM, shareBrowser, waitForAgreement } from '../support/browser.ts'
import { shareDemoGateway } from '../support/command-line.ts'

const PAGES: readonly (readonly [path: string, usable: string])[] = [
  ['/?route=GET+%2Fexports', '.verdict.same'],
  ['/workspace', '.item'],
  ['/workspace?show=projects&open=roastery-site', '.preview .line span span[class]'],
  ['/workspace?show=projects&open=roastery-site&tab=exports', '.exports a'],
  ['/docs', '.operation'],
  ['/sessions', '.sessions li'],
  ['/nosuchpage', '.empty'],
  ['/graphql', '.graphiql-response .t-string'],
]
/** More tab stops than any page has. */
const MOST_STOPS = 300

describe.skipIf(CHROMIUM === undefined)('the keyboard alone', () => {
  const browser = shareBrowser()
  const demo = shareDemoGateway()

  test('Tab reaches every control of every page, each is visible and marked, and none traps the focus', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    for (const [path, usable] of PAGES) {
      await page.goto(demo.url() + path)
      await page.locator(usable).first().waitFor()
      const { unmarked, unseen, ended } = await walk(page)
      expect({ path, unmarked, unseen, ended }).toEqual({ path, unmarked: [], unseen: [], ended: true })
      expect(await unreached(page), path).toEqual([])
    }
  })

  test('Shift+Tab never leaves the focus behind the frame, and a focus in the frame does not scroll the page', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    for (const [path, usable] of PAGES.filter(([path]) => path.startsWith('/?') || path === '/docs')) {
      await page.goto(demo.url() + path)
      await page.locator(usable).first().waitFor()
      for (const width of [390, 1_280]) {
        await page.setViewportSize({ width, height: 800 })
        await page.locator('main :is(a[href], button)').filter({ visible: true }).last().focus()
        expect(await walkBack(page), `${path}, ${width} pixels wide`).toEqual([])
      }
    }
    // The last page, which is the longest one.
    await page.evaluate(() => scrollTo(0, 1_000))
    for (const control of await page.locator('.frame :is(a, button, input)').filter({ visible: true }).all()) {
      await control.focus()
      expect(await page.evaluate(() => scrollY)).toBe(1_000)
    }
  })

  test('the focus stays on the pressed button, and moves into the page that a link opens', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await press(page, /^GET \/templates/)
    await page.locator('.what', { hasText: 'GET /templates' }).waitFor()
    expect(await focused(page)).toMatch(/^GET \/templates/)
    await page.getByRole('link', { name: 'Open a project' }).press('Enter')
    await page.locator('.item', { hasText: 'Quillmoor' }).press('Enter')
    await page.getByRole('tree').waitFor()
    const isInPage = () => page.evaluate(() => document.activeElement?.closest('main') !== null)
    expect(await isInPage()).toBe(true)
    await page.getByRole('button', { name: 'Download zip' }).focus()
    const download = page.waitForEvent('download')
    await page.keyboard.press('Enter')
    await download
    await expect.poll(() => focused(page)).toBe('Download zip')
    await page.goBack()
    await page.locator('.item').first().waitFor()
    expect(await isInPage()).toBe(true)
  })

  test('the focus returns to the button from the account panel, and moves into the page after a sign-out and a sign-in', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    // On a page that was only loaded, Tab starts at the beginning.
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true)
    const focus = page.locator('main:focus')
    const opener = page.locator('.account > button')
    await opener.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('.panel') !== null)).toBe(true)
    await page.keyboard.press('Escape')
    await page.locator('.account .panel').waitFor({ state: 'hidden' })
    expect(await opener.evaluate((button) => document.activeElement === button)).toBe(true)
    await opener.press('Enter')
    await page.getByRole('button', { name: 'Sign out', exact: true }).press('Enter')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await focus.waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Email')
    await page.keyboard.press('Enter')
    await waitForAgreement(page)
    await focus.waitFor()
    await opener.press('Enter')
    await page.getByText('Sign in as somebody else').press('Enter')
    await page.locator('.account input[type=email]:focus').waitFor()
    await page.keyboard.type('somebody@example.com')
    await page.keyboard.press('Enter')
    await page.locator('.account .email', { hasText: 'somebody@example.com' }).waitFor()
    await focus.waitFor()
  })

  test('the focus stays beside a pressed button or a list of suggestions that disappears', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(`${demo.url()}/?route=GET+%2Fexports`)
    await waitForAgreement(page)
    // Tab closes the list and moves to a control that is not hidden.
    await page.getByRole('combobox', { name: 'r reference of a project' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.locator('.combo-list').waitFor()
    await page.keyboard.press('Tab')
    await page.locator('.combo-list').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Run both')
    expect(
      await page.evaluate(() => document.activeElement?.closest('[aria-hidden="true"], [inert]') ?? null),
    ).toBeNull()

    await page.getByRole('button', { name: 'Dismiss', exact: true }).press('Enter')
    await page.locator('.first-steps').waitFor({ state: 'detached' })
    expect(await page.locator('main:focus').count()).toBe(1)
    await page.getByRole('textbox', { name: /GraphQL query/ }).fill('{ me { email } }')
    await page.getByRole('button', { name: 'Reset' }).press('Enter')
    await page.getByRole('button', { name: 'Reset' }).waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Code')
    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.getByLabel('Search').fill('zzzz')
    await page.getByRole('button', { name: 'Show all' }).press('Enter')
    await page.locator('.item').first().waitFor()
    expect(await focused(page)).toBe('Search')
  })

  test('the focus moves into the page when the banner or a failure disappears with its button, but not if nothing had it', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    const isNowhere = () => page.evaluate(() => document.activeElement === document.body)
    const run = page.getByRole('button', { name: 'Run both' })
    const retry = page.getByRole('button', { name: 'Try now' })
    const banner = page.locator('.banner')
    await page.route('**/*', (route) => route.abort())
    // These clicks move no focus, unlike those of a mouse.
    await run.dispatchEvent('click')
    await banner.waitFor()
    expect(await isNowhere()).toBe(true)
    await page.unroute('**/*')
    await retry.dispatchEvent('click')
    await banner.waitFor({ state: 'detached' })
    expect(await isNowhere()).toBe(true)

    await page.route('**/*', (route) => route.abort())
    await run.press('Enter')
    await retry.focus()
    await page.unroute('**/*')
    await page.keyboard.press('Enter')
    await banner.waitFor({ state: 'detached' })
    await page.locator('main:focus').waitFor()

    await page.route('**/graphql', (route) => route.fulfill({ status: 502, json: {} }))
    await page.getByRole('link', { name: 'Workspace', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Try again' }).focus()
    await page.unroute('**/graphql')
    await page.keyboard.press('Enter')
    await page.locator('.item').first().waitFor()
    expect(await page.locator('main:focus').count()).toBe(1)
  })

  test('Enter and Escape run and close nothing while they end or give up a word of an input method', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    const typing = await page.context().newCDPSession(page)
    const compose = async (text: string) => {
      await typing.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length })
    }
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
    await page.goto(`${demo.url()}/?route=GET+%2Fexports`)
    await waitForAgreement(page)
    await page.locator('.rest .lines').press('Control+f')
    await compose('名前')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('textbox', { name: 'Find in REST answer' }).inputValue()).toBe('名前')
    sent.length = 0
    await page.getByRole('combobox', { name: 'r reference of a project' }).fill('')
    await compose('にほん')
    await page.keyboard.press('Enter')
    await page.locator('.routes button', { hasText: '/login' }).click()
    await page.getByLabel('email whose session to open').fill('')
    await compose('あ')
    await page.keyboard.press('Enter')
    await page.goto(`${demo.url()}/docs#getProjects`)
    const operation = page.locator('#getProjects')
    await operation.getByText('Request headers').click()
    await operation.getByRole('button', { name: 'Add a header' }).click()
    await compose('あ')
    await page.keyboard.press('Enter')
    // A word that has ended runs what was typed.
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('x-mine')
    await page.keyboard.press('Enter')
    await operation.locator('.try .status').waitFor()
    expect(sent.filter((one) => /exports|login|projects$/.test(one))).toEqual(['GET /projects'])
  })

  test('a user signs out and in, goes to a project and its files, and comes back, by keyboard alone', async () => {
    const page = await (await browser.open(demo.url())).newPage()
    await page.goto(demo.url())
    await waitForAgreement(page)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
    await press(page, /^(?:● ?)?Signed in as/)
    await press(page, 'Sign out')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await tabTo(page, 'Email')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('demo@example.com')
    await page.keyboard.press('Enter')
    await waitForAgreement(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    await page.keyboard.type('quillmoor')
    await page
      .getByRole('option', { name: /Quillmoor/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('tree').waitFor()
    await tabTo(page, 'Files')
    while ((await page.evaluate(() => document.activeElement?.getAttribute('role'))) !== 'tree') {
      await page.keyboard.press('Tab')
    }
    const before = new URL(page.url()).searchParams.get('file')
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('file')).not.toBe(before)
    await press(page, 'REST ↔ GraphQL')
    await waitForAgreement(page)
  })
})

interface Walk {
  /** Stops that look the same with and without the focus. */
  readonly unmarked: readonly string[]
  readonly unseen: readonly string[]
  /** Whether the focus came back to its start. */
  readonly ended: boolean
}

/** Presses Tab until the focus is back at its start; marks each stop with `data-reached`. */
async function walk(page: Page): Promise<Walk> {
  const unseen: string[] = []
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(() => {
      const one = document.activeElement
      if (!(one instanceof HTMLElement) || one === document.body) return 'end'
      if (one.dataset.reached !== undefined) return one.dataset.reached === 'first' ? 'end' : 'trapped'
      one.dataset.reached = document.querySelector('[data-reached]') === null ? 'first' : 'yes'
      const marked = one.closest('.CodeMirror, .theme-switch label') ?? one
      // CodeMirror shows its cursor, others an outline or a shadow.
      const mark = () => {
        const cursor = marked.querySelector<HTMLElement>('.CodeMirror-cursors')
        // Whether the cursor is there, not whether it blinks away at this moment.
        cursor?.style.removeProperty('visibility')
        for (const animation of marked.getAnimations()) if (animation instanceof CSSTransition) animation.finish()
        const { outlineStyle, boxShadow } = getComputedStyle(marked)
        return [outlineStyle, boxShadow, cursor && getComputedStyle(cursor).visibility].join()
      }
      const name = `${one.tagName} ${one.getAttribute('aria-label') ?? one.innerText.slice(0, 40)} ${one.className}`
      const focused = mark()
      const stops = (Reflect.get(window, 'stops') ?? []) as unknown[]
      Reflect.set(window, 'stops', [...stops, { name, isMarked: () => mark() !== focused }])
      const { width, height, bottom, right } = marked.getBoundingClientRect()
      return {
        name,
        isSeen: width > 0 && height > 0 && bottom > 0 && right > 0,
      }
    })
    if (typeof stop === 'string') return { unmarked: await unmarkedStops(page), unseen, ended: stop === 'end' }
    if (!stop.isSeen) unseen.push(stop.name)
  }
  return { unmarked: await unmarkedStops(page), unseen, ended: false }
}

/** Presses Shift+Tab until the focus is in the frame. Returns the stops that the frame covered, even in part. */
async function walkBack(page: Page): Promise<readonly string[]> {
  const covered: string[] = []
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    const stop = await page.evaluate(() => {
      const [one, frame] = [document.activeElement, document.querySelector('.frame')]
      if (!(one instanceof HTMLElement) || !frame) throw new Error('nothing has the focus')
      if (frame.contains(one)) return null
      const isCovered = one.getBoundingClientRect().top < frame.getBoundingClientRect().bottom
      return { name: one.outerHTML.slice(0, 80), isCovered }
    })
    if (stop === null) return covered
    if (stop.isCovered) covered.push(stop.name)
    await page.keyboard.press('Shift+Tab')
  }
  throw new Error('Shift+Tab never reached the frame')
}

/** Compares how each stop looked with the focus and how it looks without. */
function unmarkedStops(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    const stops = (Reflect.get(window, 'stops') ?? []) as readonly { name: string; isMarked: () => boolean }[]
    return stops.flatMap(({ name, isMarked }) => (isMarked() ? [] : [name]))
  })
}

/** Returns the visible controls and fields that never had the focus. */
async function unreached(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
      .filter((one) => !one.matches(':disabled') && one.dataset.reached === undefined)
      // A group of radio buttons is one stop; arrow keys move within it.
      .filter((one) => !(one instanceof HTMLInputElement && one.type === 'radio'))
      .map((one) => one.outerHTML.slice(0, 120)),
  )
}

async function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const one = document.activeElement as HTMLElement
    const labels = one instanceof HTMLInputElement ? [...(one.labels ?? [])].map(({ innerText }) => innerText) : []
    return (one.getAttribute('aria-label') ?? (labels.join(' ') || one.innerText)).trim().replace(/\s+/g, ' ')
  })
}

async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    const now = await focused(page)
    if (typeof name === 'string' ? now === name : name.test(now)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab never reached ${name}`)
}

async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}
