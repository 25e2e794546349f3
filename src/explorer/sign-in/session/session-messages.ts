// What the pages say about a session that has ended, or that could not be renewed or ended.

export interface SessionMessage {
  readonly text: string
  /** False where the message only tells what has happened. */
  readonly isFailure: boolean
}

export const ENDED = told('Your session has ended: sign in again.')
export const NOT_KEPT = told('This tab did not keep the session over the reload: sign in again.')
export const SIGNED_OUT_ELSEWHERE = told('You signed out in another tab.')
export const NOT_RENEWED = failed('The gateway could not renew your session yet. Trying again.')
export const NOT_TOLD = failed('Signed out here, but the gateway could not be told yet. Trying again.')
export const NOT_ENDED = failed(
  'Signed out here, but the gateway refused to end the session: it goes on there until it expires.',
)
/** Shown at the form, as the failure of a sign-in. */
export const SIGNED_OUT_MEANWHILE = 'You signed out meanwhile: sign in again.'

export function failed(text: string): SessionMessage {
  return { text, isFailure: true }
}

function told(text: string): SessionMessage {
  return { text, isFailure: false }
}
