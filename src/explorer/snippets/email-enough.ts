// Whether an email alone opens a session here: then samples sign in, and calls that take a refresh token are tried with one of their own.
import type { ExplorerData, ExplorerRoute } from '../../pages/explorer-config.ts'

type Guarded = Pick<ExplorerData, 'loginGuard'>

/** Not where a code is mailed, say, or nobody is let in any more. */
export function isEmailEnough({ loginGuard }: Guarded): boolean {
  return loginGuard.split(',').some((guard) => guard === 'local' || guard === 'open')
}

/** Whether the page can send a call without taking the person's own session for it. */
export function canBeTried({ field }: ExplorerRoute, facts: Guarded): boolean {
  return field !== 'refreshToken' || isEmailEnough(facts)
}

/** What is said where it cannot. */
export const NOT_TRIED =
  'This call is tried with a session of its own, so that you stay signed in. An email alone does not open one here: run the code with a refresh token of yours.'
