// The login guards there are, by name.
import type { LoginGuard, LoginGuardName } from './guard.ts'
import { createLocalGuard } from './local.ts'
import { createOpenGuard } from './open.ts'

/** `trustedOrigins`: pages of these origins may sign in as if they were this gateway's own. */
export const LOGIN_GUARDS: { readonly [N in LoginGuardName]: (trustedOrigins: readonly string[]) => LoginGuard } = {
  local: createLocalGuard,
  open: createOpenGuard,
}
