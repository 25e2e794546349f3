// What is kept over a reload: the demo user's session in localStorage, which all tabs share, and any other only where the person asks, in sessionStorage.

import type { BrowserStorage } from '../../design/browser-storage.ts'

export interface KeptSession {
  readonly token: () => string | null
  /** Whose session it is; null where none is kept. */
  readonly email: () => string | null
  readonly keep: (refreshToken: string, email: string) => void
  readonly clear: () => void
  /** Whether the person signed out in this tab: then the demo user is not signed in again. */
  readonly isSignedOut: () => boolean
  readonly markSignedOut: () => void
  /** Whether this tab was somebody else's than the demo user's: then a reload does not make it the demo user's again. */
  readonly isOfSomebody: () => boolean
  readonly markOfSomebody: (isOfSomebody: boolean) => void
  /** The refresh token of the demo user's session, for whichever page is opened next. */
  readonly demoToken: () => string | null
  readonly keepDemo: (refreshToken: string) => void
  /** Does nothing where another one is kept by now. */
  readonly forgetDemo: (refreshToken: string | null) => void
}

/** Gateways under different base paths of one origin keep apart. */
export function keptSession(storage: BrowserStorage, shared: BrowserStorage, basePath: string): KeptSession {
  const key = `workspace-gateway${basePath}`
  const demoToken = (): string | null => shared.getItem(`${key}:demo-refresh-token`)
  return {
    token: () => storage.getItem(`${key}:refresh-token`),
    email: () => storage.getItem(`${key}:email`),
    keep(refreshToken, email) {
      storage.setItem(`${key}:refresh-token`, refreshToken)
      storage.setItem(`${key}:email`, email)
    },
    clear() {
      storage.removeItem(`${key}:refresh-token`)
      storage.removeItem(`${key}:email`)
      storage.removeItem(`${key}:signed-out`)
    },
    isSignedOut: () => storage.getItem(`${key}:signed-out`) !== null,
    markSignedOut: () => storage.setItem(`${key}:signed-out`, 'yes'),
    isOfSomebody: () => storage.getItem(`${key}:somebody`) !== null,
    markOfSomebody(isOfSomebody) {
      if (isOfSomebody) storage.setItem(`${key}:somebody`, 'yes')
      else storage.removeItem(`${key}:somebody`)
    },
    demoToken,
    keepDemo: (refreshToken) => shared.setItem(`${key}:demo-refresh-token`, refreshToken),
    forgetDemo(refreshToken) {
      if (demoToken() === refreshToken) shared.removeItem(`${key}:demo-refresh-token`)
    },
  }
}
