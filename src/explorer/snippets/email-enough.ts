// Tells whether an email alone opens a session. Then samples can sign in, and calls that take a refresh token can be
// tried with a session of their own.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { askedGuards, type Guarded } from '../sign-in/asked-guards.ts'

/** False where a code is mailed, for example, or where nobody may sign in any more. */
export function isEmailEnough(facts: Guarded): boolean {
  return askedGuards(facts).some((guard) => guard === 'local' || guard === 'open')
}

/** Whether the page can send the call without using the person's own session. */
export function canBeTried({ field }: ExplorerRoute, facts: Guarded): boolean {
  return field !== 'refreshToken' || isEmailEnough(facts)
}

/** Shown where `canBeTried` is false. */
export const NOT_TRIED =
  'This call is tried with a session of its own, so that you stay signed in. An email alone does not open one here: run the code with a refresh token of yours.'
