// What the sign-in card says about a session that has ended, or that could not be renewed or ended.

export const ENDED = 'Your session has ended: sign in again.'
export const NOT_KEPT = 'This tab did not keep the session over the reload: sign in again.'
export const NOT_RENEWED = 'The gateway could not renew your session yet. Trying again.'
export const SIGNED_OUT_ELSEWHERE = 'You signed out in another tab.'
export const SIGNED_OUT_MEANWHILE = 'You signed out meanwhile: sign in again.'
export const NOT_TOLD = 'Signed out here, but the gateway could not be told yet. Trying again.'
export const NOT_ENDED =
  'Signed out here, but the gateway refused to end the session: it goes on there until it expires.'
/** Messages that tell what has happened; the others tell of a failure. */
export const NOTICES: ReadonlySet<string> = new Set([ENDED, NOT_KEPT, SIGNED_OUT_ELSEWHERE])
