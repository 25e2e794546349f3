// Holds the session state that the pages show, and notifies listeners of changes.
import type { SessionMessage } from './session-messages.ts'

export interface SessionState {
  readonly phase: 'starting' | 'signed-out' | 'signed-in'
  readonly email: string | null
  /** Expiry of the access token, in milliseconds since the epoch. */
  readonly endsAt: number | null
  readonly isRemembered: boolean
  /** Why nobody is signed in; null when there is nothing to say. */
  readonly message: SessionMessage | null
}

export interface ShownState {
  readonly state: () => SessionState
  readonly change: (next: Partial<SessionState>) => void
  readonly subscribe: (listener: () => void) => () => void
}

export const SIGNED_OUT = {
  phase: 'signed-out',
  email: null,
  endsAt: null,
  isRemembered: false,
  message: null,
} as const satisfies SessionState

export function createShownState(): ShownState {
  const listeners = new Set<() => void>()
  let state: SessionState = { ...SIGNED_OUT, phase: 'starting' }
  return {
    state: () => state,
    change(next) {
      state = { ...state, ...next }
      for (const listener of listeners) runAlone(listener)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A failing listener must not prevent the session from storing its state or notifying other tabs. */
function runAlone(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    reportError(error)
  }
}
