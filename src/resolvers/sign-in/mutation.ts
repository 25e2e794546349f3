// Mutation: login, refresh, logout, and ending other sessions of the user.
import { bearerToken } from '../../auth/bearer.ts'
import { GatewayError } from '../../errors.ts'
import type { LiveSession } from '../../store/session-contract.ts'
import type { Context } from '../context.ts'
import type { AccessTokenResolvers, MutationResolvers, TokensResolvers } from '../generated.ts'

export const Mutation = {
  login: (_root, { email, code }, { signIn, caller }) => signIn.login({ email, code: code ?? null }, caller),
  refresh: (_root, { refreshToken }, { signIn, caller }) => signIn.refresh(refreshToken, caller),
  async logout(_root, { refreshToken }, { signIn, caller }) {
    await signIn.logout(refreshToken, caller)
    return true
  },
  async revokeSession(_root, { id }, context) {
    const { email } = requireBearer(context)
    const key = context.nodeIds.read(id)
    return key?.type === 'Session' && context.sessions.revoke({ id: key.id, email }, context.caller)
  },
  logoutEverywhere: (_root, _args, context) =>
    context.sessions.revokeAllOf(requireBearer(context).email, context.caller),
} satisfies MutationResolvers

/**
 * `revokeSession` and `logoutEverywhere`, unlike the other mutations, need the access token: it tells whose sessions to
 * end.
 */
function requireBearer({ viewer, caller }: Context): LiveSession {
  if (viewer) return viewer
  throw new GatewayError(bearerToken(caller) === null ? 'UNAUTHENTICATED' : 'INVALID_TOKEN')
}

export const Tokens = {
  accessToken: ({ accessToken }) => accessToken,
  refreshToken: ({ refreshToken }) => refreshToken,
} satisfies TokensResolvers

export const AccessToken = {
  accessToken: ({ accessToken }) => accessToken,
} satisfies AccessTokenResolvers
