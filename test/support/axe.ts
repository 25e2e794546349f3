// Finds the accessibility violations of a page with axe-core, and the pixels by which it is too wide.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Only the serious and critical violations, and none of the rules `without`. */
export async function violations(page: Page, without: readonly string[] = []): Promise<readonly string[]> {
  await colorsAtRest(page)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  return page.evaluate(async (without) => {
    const axe: {
      readonly run: (options: object) => Promise<{ readonly violations: readonly Violation[] }>
      readonly _audit: { readonly rules: readonly { readonly id: string; readonly impact?: string }[] }
    } = Reflect.get(window, 'axe')
    interface Violation {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
    }
    // What these rules find would be filtered out below, and they need a fifth of the processor time.
    const lesser = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')
    const unwanted = [...lesser.map(({ id }) => id), ...without]
    const { violations: found } = await axe.run({
      resultTypes: ['violations'],
      rules: {
        ...Object.fromEntries(unwanted.map((id) => [id, { enabled: false }])),
        // axe-core runs this rule only when asked to.
        'target-size': { enabled: true },
      },
    })
    // While the list of a combobox is open, everything else is hidden from screen readers. Tab closes the list before it moves on, so
    // nothing hidden receives the focus.
    const hasOpenList = document.querySelector('[role="combobox"][aria-expanded="true"]') !== null
    // An editor scrolls with its cursor: the text area that has the focus lies beside the scrolling box, not in it. A list of
    // suggestions is operated from its field, with the arrow keys.
    const isWalked = (html: string) =>
      html.startsWith('<div class="CodeMirror-scroll') || html.includes('role="listbox"')
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .filter(({ id }) => id !== 'aria-hidden-focus' || !hasOpenList)
      .flatMap(({ id, nodes }) =>
        nodes
          .filter(({ html }) => id !== 'scrollable-region-focusable' || !isWalked(html))
          .slice(0, 3)
          .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      )
  }, without)
}

export async function overflow(page: Page): Promise<readonly string[]> {
  const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  return pixels > 0 ? [`${pixels} pixels wider than the window`] : []
}

/** Waits for transitions of colours to end: axe-core would measure a colour on its way. */
async function colorsAtRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const changing = document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    await Promise.allSettled(changing.map(({ finished }) => finished))
  })
}
