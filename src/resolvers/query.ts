// Query: the signed-in user, and the user's data by id.
import { GatewayError } from '../errors.ts'
import type { Context, WorkspaceUser } from './context.ts'
import type { QueryResolvers } from './generated.ts'
import { findNode } from './identity/node.ts'
import type { NodeRow } from './identity/node-row.ts'

/** Maximum number of ids per `nodes` field. */
const MAX_NODES = 100
/**
 * Bytes of reading that an id counts as: finding the objects of `MAX_NODES` ids takes some 2 ms. An operation may have
 * fifty such fields, which would otherwise all begin in one turn of the event loop.
 */
const BYTES_PER_ID = 1_024

export const Query = {
  me: (_root, _args, context) => requireViewer(context),
  async node(_root, { id }, context) {
    const me = requireViewer(context)
    return me && findNode(me, id, context)
  },
  nodes(_root, { ids }, context): Promise<readonly (NodeRow | null)[]> {
    const me = requireViewer(context)
    if (ids.length > MAX_NODES) {
      throw new GatewayError('INVALID_ARGUMENT', { message: `\`ids\` may hold at most ${MAX_NODES}.` })
    }
    return findNodes(me, ids, context)
  },
} satisfies QueryResolvers

/** Null if no workspace is stored for the email of the session. Throws `UNAUTHENTICATED` without a session. */
function requireViewer({ viewer }: Context): WorkspaceUser | null {
  if (!viewer) throw new GatewayError('UNAUTHENTICATED')
  return viewer.userId === null ? null : { userId: viewer.userId, email: viewer.email }
}

async function findNodes(
  me: WorkspaceUser | null,
  ids: readonly string[],
  context: Context,
): Promise<readonly (NodeRow | null)[]> {
  await context.paceReading(ids.length * BYTES_PER_ID)
  return Promise.all(ids.map((id) => me && findNode(me, id, context)))
}
