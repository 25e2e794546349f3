// Stores sessions across reloads: the demo user's in localStorage, which all tabs share; any other only on request, in
// sessionStorage.

import type { BrowserStorage } from '../../design/browser-storage.ts'

export interface KeptSession {
  readonly token: () => string | null
  /** Email of the stored session's user; null when no session is stored. */
  readonly email: () => string | null
  readonly keep: (refreshToken: string, email: string) => void
  readonly clear: () => void
  /** Whether the person signed out in this tab; the demo user is then not signed in automatically. */
  readonly isSignedOut: () => boolean
  readonly markSignedOut: () => void
  /**
   * Whether this tab last belonged to another user than the demo user; a reload then does not sign the demo user in.
   */
  readonly isOfSomebody: () => boolean
  readonly markOfSomebody: (isOfSomebody: boolean) => void
  /** The refresh token of the demo user's session, for the next page that opens. */
  readonly demoToken: () => string | null
  readonly keepDemo: (refreshToken: string) => void
  /** Does nothing if another token has been stored meanwhile. */
  readonly forgetDemo: (refreshToken: string | null) => void
}

/** The keys contain the base path, so that gateways under different paths of one origin stay separate. */
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
