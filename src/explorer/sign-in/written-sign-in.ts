// What was typed into the sign-in form, and whether the gateway has sent a code for it.
import type { BrowserStorage } from '../design/browser-storage.ts'

export interface WrittenSignIn {
  readonly email: string
  readonly code: string
  readonly isCodeSent: boolean
  readonly isRemembered: boolean
}

export const NOTHING_WRITTEN: WrittenSignIn = { email: '', code: '', isCodeSent: false, isRemembered: false }

/**
 * Holds what was typed. `storage`, the sessionStorage of this tab, has for whom a code was sent: on a phone, browsers
 * reload a tab whose user went to read the mail. It never has the code.
 */
export function keepWrittenSignIn(storage: BrowserStorage, basePath: string): { current: WrittenSignIn | null } {
  const sentTo = `workspace-gateway${basePath}:code-sent-to`
  const remembered = `workspace-gateway${basePath}:code-remembered`
  const email = storage.getItem(sentTo)
  const isRemembered = storage.getItem(remembered) !== null
  let current = email === null ? null : { ...NOTHING_WRITTEN, email, isCodeSent: true, isRemembered }
  return {
    get current() {
      return current
    },
    set current(next) {
      current = next
      storage.removeItem(sentTo)
      storage.removeItem(remembered)
      if (!next?.isCodeSent) return
      storage.setItem(sentTo, next.email)
      if (next.isRemembered) storage.setItem(remembered, 'yes')
    },
  }
}
