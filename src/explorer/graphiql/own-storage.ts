// What GraphiQL keeps over a reload, in localStorage: tabs, history and settings, of each user apart, and no whole token.
import { createLocalStorage, type Storage } from '@graphiql/toolkit'
import { withoutTokens } from '../answer/reading.ts'
import { isBlocked } from '../design/browser-storage.ts'
import { LATEST_EXPORT } from './examples.ts'

const TABS = 'graphiql:tabState'
const SHOWN = { query: 'graphiql:query', variables: 'graphiql:variables' }

/** Where the person blocks what browsers keep. */
const NOWHERE: Storage = { getItem: () => null, setItem() {}, removeItem() {}, clear() {}, length: 0 }

/** Gateways under different base paths of one origin keep apart. */
export function ownStorage(basePath: string, email: string): Storage {
  if (isBlocked(() => localStorage)) return NOWHERE
  const kept = createLocalStorage({ namespace: `workspace-gateway${basePath}:${email}` })
  return {
    getItem: kept.getItem,
    setItem: (key: string, value: string) => kept.setItem(key, withoutTokens(value)),
    removeItem: kept.removeItem,
    clear: kept.clear,
    get length() {
      return kept.length
    },
  }
}

interface OpenTabs {
  readonly tabs: readonly object[]
  readonly activeTabIndex: number
  /** What the editors hold, which is that of the active tab. */
  readonly written: { readonly query: string; readonly variables: string; readonly operationName: string | null }
}

/** As GraphiQL keeps them: without answers and headers. */
export function keepTabs(storage: Storage, { tabs, activeTabIndex, written }: OpenTabs): void {
  const kept = tabs.map((tab, index) => ({
    ...tab,
    ...(index === activeTabIndex ? written : {}),
    hash: null,
    headers: null,
    response: null,
  }))
  storage.setItem(TABS, JSON.stringify({ tabs: kept, activeTabIndex }))
  storage.setItem(SHOWN.query, written.query)
  storage.setItem(SHOWN.variables, written.variables)
}

/**
 * Turns the example about an export to the first of `refs`, where it names none of them: the user's data may be others
 * than when it was kept.
 */
export function renewExample(storage: Storage, refs: readonly string[]): void {
  const [ref] = refs
  if (ref === undefined) return
  const variables = JSON.stringify({ ref })
  const tabs = parsed(storage.getItem(TABS))
  if (tabs !== null) {
    const renewed = JSON.stringify(tabs, (_key, value) => (isStale(value, refs) ? { ...value, variables } : value))
    storage.setItem(TABS, renewed)
  }
  const shown = { query: storage.getItem(SHOWN.query), variables: storage.getItem(SHOWN.variables) }
  if (isStale(shown, refs)) storage.setItem(SHOWN.variables, variables)
}

function isStale(value: unknown, refs: readonly string[]): boolean {
  const { query, variables } = { ...(value as { readonly query?: unknown; readonly variables?: unknown } | null) }
  if (query !== LATEST_EXPORT || typeof variables !== 'string') return false
  const named = parsed(variables) as { readonly ref?: unknown } | null
  return !refs.some((ref) => ref === named?.ref)
}

/** Null where a person, or something else, has left what is no JSON. */
function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
