// Keeps the tabs of this window in sessionStorage once they change, so that each window of a user has its own tabs.
import { heldStorage } from '../../design/browser-storage.ts'

export interface WindowTabs {
  /** Returns the tabs of this window, or else `keptLast`, the tabs that any window saved last. */
  readonly open: (keptLast: string | null) => string | null
  /**
   * Returns false if the tabs have not changed since this window opened or last saved them; what another window has
   * saved since must then stay.
   */
  readonly keep: (tabs: string) => boolean
  readonly clear: () => void
}

interface KeptTabs {
  readonly tabs: readonly Readonly<Record<string, unknown>>[]
  readonly activeTabIndex: number
}

const WRITTEN = ['query', 'variables', 'operationName'] as const

export function windowTabs(name: string, unstored: Map<string, string>): WindowTabs {
  const storage = heldStorage(() => sessionStorage, unstored)
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
      // Remove first: if the new value does not fit, the next load must not open the older one.
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

/** Extracts what the person wrote and chose: GraphiQL saves unchanged tabs again, and with two key orders. */
function contentOf(text: string): string {
  try {
    const { tabs, activeTabIndex } = JSON.parse(text) as KeptTabs
    return JSON.stringify([activeTabIndex, tabs.map((tab) => WRITTEN.map((name) => tab[name] ?? ''))])
  } catch {
    return text
  }
}
