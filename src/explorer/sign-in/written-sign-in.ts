// What was typed into the sign-in form, and whether the gateway has sent a code for it.

export interface WrittenSignIn {
  readonly email: string
  readonly code: string
  readonly isCodeSent: boolean
  readonly isRemembered: boolean
}

export const NOTHING_WRITTEN: WrittenSignIn = { email: '', code: '', isCodeSent: false, isRemembered: false }
