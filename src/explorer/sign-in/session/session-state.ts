// What the pages show of the session, and who is told when it changes.

export interface SessionState {
  readonly phase: 'starting' | 'signed-out' | 'waiting' | 'signed-in'
  readonly email: string | null
  /** When the access token ends, in milliseconds since the epoch. */
  readonly endsAt: number | null
  readonly isRemembered: boolean
  /** Why nobody is signed in, when there is something to say. */
  readonly message: string | null
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

/** A part of the page that fails does not break off what the session is about to keep, or to tell other tabs. */
function runAlone(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    reportError(error)
  }
}
