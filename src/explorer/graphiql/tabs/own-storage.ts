// GraphiQL's storage in localStorage: history, settings and tabs, separate for each user, without headers or whole
// tokens.
import { createLocalStorage, type Storage, StorageAPI } from '@graphiql/toolkit'
import { withoutTokens } from '../../answer/reading.ts'
import { browserStorage, heldStorage, isBlocked } from '../../design/browser-storage.ts'
import { jsonOrNull } from '../../text/json-lines.ts'
import { LATEST_EXPORT } from '../examples.ts'
import type { SharedQuery } from '../shared-query.ts'
import { windowTabs } from './window-tabs.ts'

export interface OwnStorage extends Storage {
  /** Ignores all later writes: GraphiQL writes up to 600 ms after its page is left, or its data are cleared. */
  readonly close: () => void
}

const TABS = 'tabState'
/** The key under which GraphiQL's StorageAPI stores the tabs. */
const TABS_KEY = `graphiql:${TABS}`
/** These entries store a request together with its headers. */
const HISTORY_KEYS: readonly string[] = ['graphiql:queries', 'graphiql:favorites']
const SHOWN = { query: 'query', variables: 'variables' }

/**
 * The namespace contains the base path, so that gateways under different paths of one origin stay separate. `unstored`
 * holds what the browser does not store of this user. `onClear` is called when GraphiQL has cleared its data, of which
 * it still shows and would store what it has in memory.
 */
export function ownStorage(
  basePath: string,
  email: string,
  unstored: Map<string, string>,
  onClear: () => void,
): OwnStorage {
  const namespace = `workspace-gateway${basePath}:${email}`
  const stored = createLocalStorage({ namespace })
  const kept = heldStorage(() => stored, unstored)
  const ofWindow = windowTabs(`${namespace}:tabs`, unstored)
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
      isOpen = false
      ofWindow.clear()
      unstored.clear()
      if (!isBlocked(() => localStorage)) stored.clear()
      onClear()
    },
    get length() {
      return stored.length
    },
    close() {
      isOpen = false
    },
  }
}

/**
 * Removes headers that earlier versions of these pages stored, for all users. They may contain a credential for another
 * server.
 */
function dropKeptHeaders(): void {
  if (isBlocked(() => localStorage)) return
  const storage = browserStorage(() => localStorage)
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith('workspace-gateway') || !HISTORY_KEYS.some((name) => key.endsWith(`:${name}`))) continue
    const kept = storage.getItem(key) ?? ''
    const text = withoutHeaders(kept)
    if (text !== kept) storage.setItem(key, text)
  }
}

/** `history` is JSON text; text that is not JSON is returned unchanged. */
function withoutHeaders(history: string): string {
  const entries = jsonOrNull(history)
  return entries === null ? history : JSON.stringify(entries, (name, value) => (name === 'headers' ? undefined : value))
}

interface OpenTabs {
  readonly tabs: readonly object[]
  readonly activeTabIndex: number
  /** The content of the editors, which belongs to the active tab. */
  readonly written: SharedQuery
}

/** Saves the tabs in GraphiQL's format, without answers and headers. */
export function keepTabs(storage: Storage, { tabs, activeTabIndex, written }: OpenTabs): void {
  const kept = tabs.map((tab, index) => ({
    ...tab,
    ...(index === activeTabIndex ? written : {}),
    hash: null,
    headers: null,
    response: null,
  }))
  // Unlike the storage itself, StorageAPI does not throw when the storage is full.
  new StorageAPI(storage).set(TABS, JSON.stringify({ tabs: kept, activeTabIndex }))
}

interface KeptTabs {
  readonly tabs: readonly KeptTab[]
  readonly activeTabIndex: number
}

type KeptTab = { readonly [Name in keyof SharedQuery]?: string | null }

/**
 * Prepares the stored tabs before GraphiQL reads them. GraphiQL also stores the content of its editors separately, and
 * not at the same moment. If that content matches no tab, GraphiQL would add a tab for it.
 */
export function readyTabs(storage: Storage, shared: SharedQuery | null, refs: readonly string[]): void {
  const items = new StorageAPI(storage)
  const kept = readTabs(items)
  const tabs = renewExample(kept?.tabs ?? [], refs)
  if (tabs.length > 0) items.set(TABS, JSON.stringify({ ...kept, tabs }))
  const shown = shared ?? tabs[kept?.activeTabIndex ?? 0]
  items.set(SHOWN.query, shown?.query ?? '')
  items.set(SHOWN.variables, shown?.variables ?? '')
}

/** The project references in the stored example tabs about an export. */
export function refsInTabs(storage: Storage): readonly string[] {
  const refs = (readTabs(new StorageAPI(storage))?.tabs ?? []).map(namedBy)
  return [...new Set(refs)].filter((ref) => ref !== null).filter((ref) => ref !== '')
}

function readTabs(items: StorageAPI): Partial<KeptTabs> | null {
  const kept = jsonOrNull(items.get(TABS) ?? '') as Partial<KeptTabs> | null
  return Array.isArray(kept?.tabs) ? kept : null
}

/**
 * Points the example about an export to the first of `refs` when no example tab names one of them, because the user's
 * data may have changed since the tabs were stored. If one tab does, the other ones came from shared links and stay.
 */
function renewExample(tabs: readonly KeptTab[], refs: readonly string[]): readonly KeptTab[] {
  const [ref] = refs
  const named = tabs.map(namedBy)
  if (ref === undefined || named.some((one) => one !== null && refs.includes(one))) return tabs
  return tabs.map((tab, index) => (named[index] === null ? tab : { ...tab, variables: JSON.stringify({ ref }) }))
}

/** Returns the project reference in an example tab, or an empty string if it has none; null for any other tab. */
function namedBy(tab: KeptTab): string | null {
  const { query, variables } = { ...tab }
  if (query !== LATEST_EXPORT || typeof variables !== 'string') return null
  return String((jsonOrNull(variables) as { readonly ref?: unknown } | null)?.ref ?? '')
}
