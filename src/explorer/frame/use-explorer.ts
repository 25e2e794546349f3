// The React context of the explorer: the gateway's facts, the session, the address and the connection state.
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { ExplorerData } from '../../pages/explorer-config.ts'
import type { WrittenReference } from '../reference/own-headers.ts'
import type { FirstRun } from '../rosetta/first-run.ts'
import type { RunHistory } from '../rosetta/history/run-history.ts'
import type { Session } from '../sign-in/session/session.ts'
import type { SessionState } from '../sign-in/session/session-state.ts'
import type { KeptSignIn } from '../sign-in/written-sign-in.ts'
import type { FilesFrom, Finding } from '../workspace/files/found-file.ts'
import type { Kind } from '../workspace/items.ts'
import type { Connection, ConnectionState } from './connection.ts'
import type { Navigation, Place } from './navigation/navigation.ts'

/** The files that the current page shows. */
export interface OpenFiles extends FilesFrom {
  readonly paths: readonly string[]
}

export interface Explorer {
  readonly facts: ExplorerData
  readonly session: Session
  readonly navigation: Navigation
  readonly connection: Connection
  /** The address with which each workspace list was left, keyed by its kind. */
  readonly leftLists: Map<string, string>
  /** The request headers that each user wrote in GraphiQL, by email and tab id. */
  readonly writtenHeaders: Map<string | null, Map<string, string>>
  /** What GraphiQL would store, by email and key, where the browser's storage is blocked or full. */
  readonly unstored: Map<string | null, Map<string, string>>
  /** What was typed into the reference, keyed by the email of its author; null is the key while nobody is signed in. */
  readonly leftReferences: Map<string | null, WrittenReference>
  /** What was typed into the sign-in card, while a public page is visited; null once somebody is signed in. */
  readonly leftSignIn: KeptSignIn
  /** The files of the export, template or library on the screen; null when none is shown. */
  readonly openFiles: { current: OpenFiles | null }
  /** The palette's last file lists, keyed by kind; `version` is the version of the data from which a list was made. */
  readonly searchedFiles: Map<Kind, { readonly version: string; readonly found: Finding }>
  readonly history: RunHistory
  readonly firstRun: FirstRun
}

export const ExplorerContext = createContext<Explorer | null>(null)

export function useExplorer(): Explorer {
  const explorer = useContext(ExplorerContext)
  if (!explorer) throw new Error('a component stands outside the explorer')
  return explorer
}

export function useSessionState(): SessionState {
  const { session } = useExplorer()
  return useSyncExternalStore(session.subscribe, session.state)
}

export function usePlace(): Place {
  const { navigation } = useExplorer()
  return useSyncExternalStore(navigation.subscribe, navigation.place)
}

export function useConnection(): ConnectionState {
  const { connection } = useExplorer()
  return useSyncExternalStore(connection.subscribe, connection.state)
}
