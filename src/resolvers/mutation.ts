// Mutation: signing in, staying signed in, signing out.
import type { AccessTokenResolvers, MutationResolvers, TokensResolvers } from './generated.ts'

export const Mutation = {
  login: (_root, { email, code }, { signIn, caller }) => signIn.login({ email, code: code ?? null }, caller),
  refresh: (_root, { refreshToken }, { signIn, caller }) => signIn.refresh(refreshToken, caller),
  async logout(_root, { refreshToken }, { signIn }) {
    await signIn.logout(refreshToken)
    return true
  },
} satisfies MutationResolvers

export const Tokens = {
  accessToken: ({ accessToken }) => accessToken,
  refreshToken: ({ refreshToken }) => refreshToken,
} satisfies TokensResolvers

export const AccessToken = {
  accessToken: ({ accessToken }) => accessToken,
} satisfies AccessTokenResolvers
