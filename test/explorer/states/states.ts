// Lists every page in every state that a user may meet, and the steps to it. Each state begins in a new tab.
import type { Page } from 'playwright-core'
import { signIn, signOut, waitForAgreement } from '../../support/browser.ts'

export interface State {
  readonly name: string
  readonly path: string
  /** The steps from the opened page to the state. */
  readonly show: (page: Page) => Promise<unknown>
}

const DEMO_PROJECT = '/workspace?show=projects&open=roastery-site'
const EXPORTS = '/?route=GET+%2Fexports'

export const STATES: readonly State[] = [
  { name: 'rosetta', path: '/', show: (page) => waitForAgreement(page) },
  { name: 'rosetta-exports', path: EXPORTS, show: (page) => waitForAgreement(page) },
  {
    name: 'rosetta-choices',
    path: EXPORTS,
    async show(page) {
      await waitForAgreement(page)
      await page.getByRole('combobox', { name: 'r reference of a project' }).fill('')
      await page.keyboard.press('ArrowDown')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'rosetta-changed',
    path: EXPORTS,
    async show(page) {
      await waitForAgreement(page)
      await page.getByRole('combobox', { name: 'r reference of a project' }).fill('river-dash')
      await page.keyboard.press('Escape')
      await page.locator('.verdict', { hasText: 'Changed since the last run' }).waitFor()
    },
  },
  {
    name: 'rosetta-refused',
    path: `${EXPORTS}&r=no-such-project`,
    show: (page) => page.locator('.verdict.refused').waitFor(),
  },
  {
    name: 'rosetta-different',
    path: `/?${new URLSearchParams({ route: 'GET /projects', query: '{ me { projects(first: 2) { data } } }' })}`,
    show: (page) => page.locator('.verdict.different').waitFor(),
  },
  {
    name: 'rosetta-incomparable',
    path: `/?${new URLSearchParams({ route: 'GET /projects', query: '{ nothing }' })}`,
    show: (page) => page.locator('.verdict.incomparable').waitFor(),
  },
  {
    name: 'rosetta-login',
    path: '/?route=POST+%2Flogin',
    async show(page) {
      await page.getByRole('button', { name: 'Run both' }).click()
      await page.locator('.verdict.same').waitFor()
      await page.locator('.answer-headers summary').first().click()
    },
  },
  {
    name: 'rosetta-code',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.getByRole('button', { name: 'Code', exact: true }).click()
      await page.getByLabel('GraphQL request: language').selectOption('Apollo Client')
      await page.locator('.past-runs summary').click()
      // Elements under the frame cannot be clicked, and axe judges the window as it is scrolled.
      await page.evaluate(() => scrollTo(0, 0))
    },
  },
  {
    name: 'rosetta-find',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.locator('.rest .lines').press('Control+f')
      await page.getByRole('textbox', { name: 'Find in REST answer' }).fill('id')
      await page
        .getByText(/^1 of \d/)
        .first()
        .waitFor()
    },
  },
  {
    name: 'account',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.locator('.account > button').click()
      await page.locator('.account .panel').waitFor()
    },
  },
  {
    name: 'menu',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByRole('button', { name: 'Menu' }).click()
      await page.getByRole('link', { name: 'Reference', exact: true }).waitFor()
    },
  },
  {
    name: 'palette',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('option').first().waitFor()
    },
  },
  {
    name: 'palette-files',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('searchbox').fill('unbroken')
      await page.getByRole('option', { name: /unbroken.*\.ts$/ }).waitFor()
    },
  },
  {
    name: 'palette-nothing',
    path: '/docs',
    async show(page) {
      await page.locator('.palette-button').waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('searchbox').fill('zzzz')
      await page.getByText('Nothing fits').waitFor()
    },
  },
  {
    name: 'signed-out',
    path: '/',
    async show(page) {
      await signOutToCard(page)
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
    },
  },
  {
    name: 'sign-in-refused',
    path: '/workspace',
    async show(page) {
      await signOutToCard(page)
      await signIn(page, 'nobody')
      await page.getByRole('alert').waitFor()
    },
  },
  {
    name: 'rosetta-nobody',
    path: '/',
    async show(page) {
      await signOutToCard(page)
      await signIn(page, 'nobody@example.com')
      await page.locator('.verdict.refused').waitFor()
    },
  },
  {
    name: 'workspace-nobody',
    path: '/workspace',
    async show(page) {
      await signOutToCard(page)
      await signIn(page, 'nobody@example.com')
      await page.getByText('workspace-gateway import').waitFor()
    },
  },
  { name: 'workspace', path: '/workspace', show: firstItem },
  { name: 'workspace-templates', path: '/workspace?show=templates', show: firstItem },
  { name: 'workspace-ui-libraries', path: '/workspace?show=libraries', show: firstItem },
  {
    name: 'workspace-search-nothing',
    path: '/workspace',
    async show(page) {
      await firstItem(page)
      await page.getByLabel('Search').fill('zzzz')
      await page.getByText('0 of 6').waitFor()
    },
  },
  { name: 'project-files', path: DEMO_PROJECT, show: coloured },
  {
    name: 'project-overview',
    path: `${DEMO_PROJECT}&tab=overview`,
    show: (page) => page.locator('.project-facts').waitFor(),
  },
  {
    name: 'project-document',
    path: `${DEMO_PROJECT}&tab=document`,
    show: (page) => page.locator('.line').first().waitFor(),
  },
  {
    name: 'project-exports',
    path: `${DEMO_PROJECT}&tab=exports`,
    show: (page) => page.locator('.exports a').first().waitFor(),
  },
  {
    name: 'project-comparison',
    path: `${DEMO_PROJECT}&tab=exports`,
    async show(page) {
      const boxes = page.getByRole('checkbox', { name: 'Compare the export of' })
      await boxes.first().waitFor()
      for (const box of (await boxes.all()).slice(0, 2)) await box.check()
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.getByRole('link', { name: 'All exports' }).waitFor()
    },
  },
  {
    name: 'project-comparison-lines',
    path: `${DEMO_PROJECT}&tab=exports`,
    async show(page) {
      await page.locator('.exports a').first().waitFor()
      for (const index of [1, 2]) await page.getByRole('checkbox', { name: 'Compare the export' }).nth(index).check()
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.locator('.changes .badge', { hasText: 'changed' }).first().click()
      await page.locator('.diff .plus').first().waitFor()
    },
  },
  {
    name: 'project-picture',
    path: `${DEMO_PROJECT}&file=public%2Flogo.png`,
    show: (page) => page.locator('.picture img').waitFor(),
  },
  {
    name: 'project-odd',
    path: '/workspace?show=projects&open=odd',
    show: (page) => page.locator('.project-facts').waitFor(),
  },
  {
    name: 'project-no-export',
    path: '/workspace?show=projects&open=odd&tab=exports',
    show: (page) => page.getByText('This project has no export yet').waitFor(),
  },
  {
    name: 'project-missing',
    path: '/workspace?show=projects&open=not-there',
    show: (page) => page.getByText('It is not there').waitFor(),
  },
  {
    name: 'template',
    path: '/workspace?show=templates',
    async show(page) {
      await firstItem(page)
      await page.locator('.item').first().click()
      await page.locator('.preview .line, .framed .line').first().waitFor()
    },
  },
  {
    name: 'ui-library',
    path: '/workspace?show=libraries',
    async show(page) {
      await firstItem(page)
      await page.locator('.item').first().click()
      await page.locator('.preview .line, .framed .line, .text-view .line').first().waitFor()
    },
  },
  {
    name: 'workspace-loading',
    path: '/nosuchpage',
    async show(page) {
      await page.route('**/graphql', () => undefined)
      await page.route('**/projects', () => undefined)
      await page.getByRole('link', { name: 'Workspace', exact: true }).click()
      await page.locator('main .skeleton, .skeleton').first().waitFor()
    },
  },
  { name: 'graphiql', path: '/graphql', show: answered },
  { name: 'graphiql-builder', path: '/graphql', show: opened('Show Query builder', '.query-builder .check') },
  { name: 'graphiql-docs', path: '/graphql', show: opened('Show Documentation Explorer', '.graphiql-doc-explorer') },
  {
    name: 'graphiql-docs-type',
    path: '/graphql',
    async show(page) {
      await opened('Show Documentation Explorer', '.graphiql-doc-explorer')(page)
      await page.locator('.graphiql-doc-explorer').getByRole('link', { name: 'Project', exact: true }).click()
      await page.locator('.graphiql-doc-explorer-title', { hasText: 'Project' }).waitFor()
    },
  },
  { name: 'graphiql-history', path: '/graphql', show: opened('Show History', '.graphiql-history-item') },
  { name: 'graphiql-code', path: '/graphql', show: opened('Code', '.cockpit .snippet-text') },
  { name: 'graphiql-settings', path: '/graphql', show: opened('Open settings dialog', '[role="dialog"]') },
  { name: 'graphiql-keys', path: '/graphql', show: opened('Open short keys dialog', '[role="dialog"]') },
  {
    name: 'graphiql-errors',
    path: `/graphql#${new URLSearchParams({ query: '{ nothing }' })}`,
    show: (page) => page.locator('.graphiql-response .line', { hasText: 'Cannot query field' }).first().waitFor(),
  },
  {
    name: 'graphiql-waiting',
    path: `/graphql#${new URLSearchParams({ query: 'mutation { logout(refreshToken: "x") }' })}`,
    show: (page) => page.getByText('Not run yet').waitFor(),
  },
  {
    name: 'graphiql-signed-out',
    path: '/graphql',
    async show(page) {
      await answered(page)
      await signOutToCard(page)
    },
  },
  { name: 'docs', path: '/docs', show: (page) => page.locator('.operation').first().waitFor() },
  {
    name: 'docs-search',
    path: '/docs',
    async show(page) {
      await page.locator('.operation').first().waitFor()
      await page.getByRole('searchbox', { name: 'Search the reference' }).fill('zzzz')
      await page.getByText('No operation is about this.').waitFor()
    },
  },
  {
    name: 'docs-tried',
    path: '/docs#getProjects',
    async show(page) {
      await page.getByRole('button', { name: /^Try it.*GET .projects/ }).click()
      await page.locator('.try .status.good').waitFor()
    },
  },
  {
    name: 'docs-headers',
    path: '/docs#getProjects',
    async show(page) {
      const operation = page.locator('#getProjects')
      await operation.locator('.own-headers > summary').click()
      for (const name of ['If-None-Match', 'Cookie']) {
        await operation.getByRole('button', { name: 'Add a header' }).click()
        await page.keyboard.type(name)
      }
      await operation.getByText('try it with curl').waitFor()
    },
  },
  {
    name: 'docs-errors',
    path: '/docs#errors',
    show: (page) => page.getByRole('heading', { name: 'Errors' }).waitFor(),
  },
  {
    name: 'docs-signed-out',
    path: '/docs',
    async show(page) {
      await page.locator('.operation').first().waitFor()
      await signOut(page)
      await page.getByText('Sign in to try it here').first().waitFor()
    },
  },
  {
    name: 'notices',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      const answer = page.locator('.side.rest .answer')
      await answer.getByRole('button', { name: 'Download' }).click()
      await answer.getByRole('button', { name: 'Copy all' }).click()
      await page.locator('.toast').nth(1).hover()
    },
  },
  {
    name: 'text-fold-keys',
    path: `${DEMO_PROJECT}&tab=document`,
    async show(page) {
      await page.locator('.lines .fold').first().waitFor()
      await page.locator('.lines').focus()
      await page.keyboard.press('Tab')
      await page.locator('.fold-hint').waitFor()
    },
  },
  {
    name: 'sessions-end-all',
    path: '/sessions',
    async show(page) {
      await page.getByRole('button', { name: 'End all, this one too' }).click()
      await page.getByRole('alertdialog').waitFor()
    },
  },
  { name: 'sessions', path: '/sessions', show: (page) => page.locator('.sessions li').first().waitFor() },
  {
    name: 'nowhere',
    path: '/nosuchpage',
    show: (page) => page.getByText('There is no page at this address').waitFor(),
  },
  {
    name: 'gateway-away',
    path: '/',
    async show(page) {
      await waitForAgreement(page)
      await page.route('**/*', (route) => route.abort())
      await page.getByRole('link', { name: 'Workspace', exact: true }).click()
      await page.locator('main').getByRole('heading', { name: 'The gateway does not answer' }).waitFor()
      await page.locator('.banner').waitFor()
    },
  },
  {
    name: 'start-without-facts',
    path: '/nosuchpage',
    async show(page) {
      await page.route('**/explorer.json', (route) => route.fulfill({ status: 503 }))
      await page.reload()
      await page.getByText('Trying again in').waitFor()
    },
  },
]

async function signOutToCard(page: Page): Promise<void> {
  await signOut(page)
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
}

async function firstItem(page: Page): Promise<void> {
  await page.locator('.item').first().waitFor()
}

async function coloured(page: Page): Promise<void> {
  await page.locator('.preview .line span span[class]').first().waitFor()
}

async function answered(page: Page): Promise<void> {
  await page.locator('.graphiql-response .t-string').first().waitFor()
}

/** Shows what a button of GraphiQL opens. */
function opened(button: string, selector: string): State['show'] {
  return async (page) => {
    await answered(page)
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.locator(selector).first().waitFor()
  }
}
