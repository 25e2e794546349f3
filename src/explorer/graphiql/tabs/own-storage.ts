// What GraphiQL keeps over a reload: history, settings and the tabs that a new window opens with, in localStorage, of each user apart, without headers and whole tokens.
import { createLocalStorage, type Storage, StorageAPI } from '@graphiql/toolkit'
import { withoutTokens } from '../../answer/reading.ts'
import { browserStorage, isBlocked } from '../../design/browser-storage.ts'
import { LATEST_EXPORT } from '../examples.ts'
import type { SharedQuery } from '../shared-query.ts'
import { windowTabs } from './window-tabs.ts'

export interface OwnStorage extends Storage {
  /** From then on nothing is written: GraphiQL writes up to 600 ms after its page is left. */
  readonly close: () => void
}

const TABS = 'tabState'
/** As GraphiQL's own StorageAPI names it. */
const TABS_KEY = `graphiql:${TABS}`
/** A request stands there with the headers that it was sent with. */
const HISTORY_KEYS: readonly string[] = ['graphiql:queries', 'graphiql:favorites']
const SHOWN = { query: 'query', variables: 'variables' }

/** Where the person blocks what browsers keep. */
const NOWHERE: OwnStorage = { getItem: () => null, setItem() {}, removeItem() {}, clear() {}, length: 0, close() {} }

/** Gateways under different base paths of one origin keep apart. */
export function ownStorage(basePath: string, email: string): OwnStorage {
  if (isBlocked(() => localStorage)) return NOWHERE
  const namespace = `workspace-gateway${basePath}:${email}`
  const kept = createLocalStorage({ namespace })
  const ofWindow = windowTabs(`${namespace}:tabs`)
  dropKeptHeaders()
  let isOpen = true
  return {
    getItem: (key) => (key === TABS_KEY ? ofWindow.open(kept.getItem(key)) : kept.getItem(key)),
    setItem(key, value) {
      if (!isOpen) return
      const text = withoutTokens(HISTORY_KEYS.includes(key) ? withoutHeaders(value) : value)
      if (key !== TABS_KEY || ofWindow.keep(text)) kept.setItem(key, text)
    },
    removeItem(key) {
      if (isOpen) kept.removeItem(key)
    },
    clear() {
      ofWindow.clear()
      kept.clear()
    },
    get length() {
      return kept.length
    },
    close() {
      isOpen = false
    },
  }
}

/** Of requests that earlier versions of these pages have kept, of whichever user: they may hold what another server takes for a key. */
function dropKeptHeaders(): void {
  const storage = browserStorage(() => localStorage)
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith('workspace-gateway') || !HISTORY_KEYS.some((name) => key.endsWith(`:${name}`))) continue
    const kept = storage.getItem(key) ?? ''
    const text = withoutHeaders(kept)
    if (text !== kept) storage.setItem(key, text)
  }
}

/** `history` is JSON text; what is none stays as it is. */
function withoutHeaders(history: string): string {
  const entries = parsed(history)
  return entries === null ? history : JSON.stringify(entries, (name, value) => (name === 'headers' ? undefined : value))
}

interface OpenTabs {
  readonly tabs: readonly object[]
  readonly activeTabIndex: number
  /** What the editors hold, which is that of the active tab. */
  readonly written: SharedQuery
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
  // Unlike the storage itself it throws nothing where there is no room.
  new StorageAPI(storage).set(TABS, JSON.stringify({ tabs: kept, activeTabIndex }))
}

interface KeptTabs {
  readonly tabs: readonly KeptTab[]
  readonly activeTabIndex: number
}

type KeptTab = { readonly [Name in keyof SharedQuery]?: string | null }

/**
 * Readies what is kept for GraphiQL to open with. GraphiQL keeps what its editors hold a second time, and not in the same moment:
 * it would add a tab for what is there and in none of them.
 */
export function readyTabs(storage: Storage, shared: SharedQuery | null, refs: readonly string[]): void {
  const items = new StorageAPI(storage)
  const kept = parsed(items.get(TABS)) as Partial<KeptTabs> | null
  const tabs = renewExample(Array.isArray(kept?.tabs) ? kept.tabs : [], refs)
  if (tabs.length > 0) items.set(TABS, JSON.stringify({ ...kept, tabs }))
  const shown = shared ?? tabs[kept?.activeTabIndex ?? 0]
  items.set(SHOWN.query, shown?.query ?? '')
  items.set(SHOWN.variables, shown?.variables ?? '')
}

/**
 * Turns the example about an export to the first of `refs`, where it names none of them: the user's data may be others
 * than when it was kept. Beside one that does, the others have come by links.
 */
function renewExample(tabs: readonly KeptTab[], refs: readonly string[]): readonly KeptTab[] {
  const [ref] = refs
  const named = tabs.map(namedBy)
  if (ref === undefined || named.some((one) => one !== null && refs.includes(one))) return tabs
  return tabs.map((tab, index) => (named[index] === null ? tab : { ...tab, variables: JSON.stringify({ ref }) }))
}

/** The project that a tab with the example is about, or an empty text; null for any other tab. */
function namedBy(tab: KeptTab): string | null {
  const { query, variables } = { ...tab }
  if (query !== LATEST_EXPORT || typeof variables !== 'string') return null
  return String((parsed(variables) as { readonly ref?: unknown } | null)?.ref ?? '')
}

/** Null where a person, or something else, has left what is no JSON. */
function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
