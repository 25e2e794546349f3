// What was typed into the sign-in form, whether the gateway has sent a code for it, and the attempt that is under way.
import type { BrowserStorage } from '../design/browser-storage.ts'

export interface WrittenSignIn {
  readonly email: string
  readonly code: string
  readonly isCodeSent: boolean
  readonly isRemembered: boolean
  /** Whether an answer of the gateway is awaited. */
  readonly isBusy: boolean
  /** Why the last attempt failed, in a sentence; null before. */
  readonly failure: string | null
}

export const NOTHING_WRITTEN: WrittenSignIn = {
  email: '',
  code: '',
  isCodeSent: false,
  isRemembered: false,
  isBusy: false,
  failure: null,
}

/** Outlives the form that it belongs to: an answer may arrive when another form has taken its place. */
export interface KeptSignIn {
  /** Null before anything is typed, and once somebody is signed in. */
  current: WrittenSignIn | null
  readonly subscribe: (listener: () => void) => () => void
}

export function keepSignIn(
  first: WrittenSignIn | null = null,
  onChange = (_next: WrittenSignIn | null) => {},
): KeptSignIn {
  const listeners = new Set<() => void>()
  let current = first
  return {
    get current() {
      return current
    },
    set current(next) {
      current = next
      onChange(next)
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/**
 * `storage`, the sessionStorage of this tab, has for whom a code was sent: on a phone, browsers reload a tab whose user
 * went to read the mail. It never has the code.
 */
export function keepWrittenSignIn(storage: BrowserStorage, basePath: string): KeptSignIn {
  const sentTo = `workspace-gateway${basePath}:code-sent-to`
  const remembered = `workspace-gateway${basePath}:code-remembered`
  const email = storage.getItem(sentTo)
  const isRemembered = storage.getItem(remembered) !== null
  const first = email === null ? null : { ...NOTHING_WRITTEN, email, isCodeSent: true, isRemembered }
  return keepSignIn(first, (next) => {
    storage.removeItem(sentTo)
    storage.removeItem(remembered)
    if (!next?.isCodeSent) return
    storage.setItem(sentTo, next.email)
    if (next.isRemembered) storage.setItem(remembered, 'yes')
  })
}
