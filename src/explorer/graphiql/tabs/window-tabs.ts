// The tabs of this window, in sessionStorage once they were changed in it: another window of the same person has its own.
import { browserStorage } from '../../design/browser-storage.ts'

export interface WindowTabs {
  /** Those of this window, or `keptLast`, which any window has kept. */
  readonly open: (keptLast: string | null) => string | null
  /** False where they are as they were opened, or kept last by this window: then what another window has kept since stays. */
  readonly keep: (tabs: string) => boolean
  readonly clear: () => void
}

interface KeptTabs {
  readonly tabs: readonly Readonly<Record<string, unknown>>[]
  readonly activeTabIndex: number
}

const WRITTEN = ['query', 'variables', 'operationName'] as const

export function windowTabs(name: string): WindowTabs {
  const storage = browserStorage(() => sessionStorage)
  let known: string | null = null
  return {
    open(keptLast) {
      const tabs = storage.getItem(name) ?? keptLast
      known = tabs === null ? null : contentOf(tabs)
      return tabs
    },
    keep(tabs) {
      const before = known
      known = contentOf(tabs)
      if (known === before) return false
      if (before === null) return true
      // Where there is no room for it, the older one must not be opened in its place.
      storage.removeItem(name)
      storage.setItem(name, tabs)
      return true
    },
    clear() {
      known = null
      storage.removeItem(name)
    },
  }
}

/** What a person has written and chosen: GraphiQL keeps the tabs anew without a change, and in two orders. */
function contentOf(text: string): string {
  try {
    const { tabs, activeTabIndex } = JSON.parse(text) as KeptTabs
    return JSON.stringify([activeTabIndex, tabs.map((tab) => WRITTEN.map((name) => tab[name] ?? ''))])
  } catch {
    return text
  }
}
