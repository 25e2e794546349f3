// What is wrong with a page for those who cannot see or point, as axe-core finds it, and what makes it too wide.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious and critical ones. */
export async function violations(page: Page): Promise<readonly string[]> {
  await colorsAtRest(page)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  return page.evaluate(async () => {
    const axe: { run: (options: object) => Promise<{ violations: readonly Violation[] }> } = Reflect.get(window, 'axe')
    interface Violation {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
    }
    const { violations: found } = await axe.run({ resultTypes: ['violations'] })
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        // An editor scrolls with its cursor; the text area that has the focus stands beside the box, not in it.
        nodes
          .filter(
            ({ html }) => id !== 'scrollable-region-focusable' || !html.startsWith('<div class="CodeMirror-scroll'),
          )
          .slice(0, 3)
          .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      )
  })
}

export async function overflow(page: Page): Promise<readonly string[]> {
  const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  return pixels > 0 ? [`${pixels} pixels wider than the window`] : []
}

/** Axe measures colours, and some of them change slowly. */
async function colorsAtRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const changing = document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    await Promise.allSettled(changing.map(({ finished }) => finished))
  })
}
