// Query: who is signed in.
import { GatewayError } from '../errors.ts'
import type { QueryResolvers } from './generated.ts'

export const Query = {
  me(_root, _args, { viewer }) {
    if (!viewer) throw new GatewayError('UNAUTHENTICATED')
    return viewer.userId === null ? null : { userId: viewer.userId, email: viewer.email }
  },
} satisfies QueryResolvers
