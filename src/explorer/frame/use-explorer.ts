// What every component may use: the gateway's facts, the session, the address, and whether the gateway answers.
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { ExplorerData } from '../../pages/explorer-config.ts'
import type { WrittenReference } from '../reference/own-headers.ts'
import type { FirstRun } from '../rosetta/first-run.ts'
import type { RunHistory } from '../rosetta/history/run-history.ts'
import type { Session } from '../sign-in/session/session.ts'
import type { SessionState } from '../sign-in/session/session-state.ts'
import type { FilesFrom, Finding } from '../workspace/files/found-file.ts'
import type { Kind } from '../workspace/items.ts'
import type { Connection, ConnectionState } from './connection.ts'
import type { Navigation, Place } from './navigation/navigation.ts'

/** The files that a person has before them. */
export interface OpenFiles extends FilesFrom {
  readonly paths: readonly string[]
}

/** By the ids of GraphiQL's tabs; of this user only. */
interface WrittenHeaders {
  readonly email: string | null
  readonly byTab: Map<string, string>
}

export interface Explorer {
  readonly facts: ExplorerData
  readonly session: Session
  readonly navigation: Navigation
  readonly connection: Connection
  /** The address with which a list of the workspace was left, by its kind. */
  readonly leftLists: Map<string, string>
  /** The headers that were written in GraphiQL. */
  readonly writtenHeaders: { current: WrittenHeaders | null }
  /** What was written into the reference, by the email of who wrote it; null for nobody who was signed in. */
  readonly leftReferences: Map<string | null, WrittenReference>
  /** Of the export, the template or the library that is shown, while it is. */
  readonly openFiles: { current: OpenFiles | null }
  /** What the palette found last, and in which version of a user's projects, templates and libraries. */
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
