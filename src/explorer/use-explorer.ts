// What every component may use: the gateway's facts and the session.
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { ExplorerData } from '../pages/explorer-config.ts'
import type { Session, SessionState } from './session.ts'

export interface Explorer {
  readonly facts: ExplorerData
  readonly session: Session
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
