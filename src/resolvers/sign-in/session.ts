// Session: the resolvers of one sign-in of a user.
import type { SessionResolvers } from '../generated.ts'

export const Session = {
  id: (session, _args, { nodeIds }) => nodeIds.session(session),
  createdAt: ({ createdAt }) => toTime(createdAt),
  lastUsedAt: ({ lastUsedAt }) => toTime(lastUsedAt),
  expiresAt: ({ idleExpiresAt, expiresAt }) => toTime(Math.min(idleExpiresAt, expiresAt)),
  current: ({ id }, _args, { viewer }) => id === viewer?.id,
  userAgent: ({ userAgent }) => userAgent || null,
  network: ({ network }) => network || null,
} satisfies SessionResolvers

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
