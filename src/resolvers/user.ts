// User: the resolvers of the viewer's workspace and sessions.
import { GatewayError } from '../errors.ts'
import type { DocumentKind, PageWithin, StoredDocument } from '../store/contract.ts'
import { MAX_NAME_LENGTH } from '../store/reads-contract.ts'
import type { Context, WorkspaceUser } from './context.ts'
import type { UserResolvers } from './generated.ts'
import { type DocumentConnection, toConnection } from './pagination/connection.ts'
import { positionCursor } from './pagination/cursors.ts'
import {
  type ConnectionArguments,
  type PageArguments,
  requireExtent,
  requireNumber,
  requirePage,
} from './pagination/page-arguments.ts'
import type { Paged } from './pagination/paged.ts'
import { readInParts, readWhole } from './pagination/read-in-parts.ts'

async function documents(
  kind: DocumentKind,
  { userId }: WorkspaceUser,
  args: PageArguments,
  context: Context,
): Promise<readonly StoredDocument[] | Paged<StoredDocument>> {
  const page = requirePage(args, requireExtent(args))
  return readInParts(page, (part) => context.reads.documentsWithin({ userId, kind, ...part }), context.paceReading)
}

function documentConnection(
  kind: DocumentKind,
  { userId }: WorkspaceUser,
  args: ConnectionArguments,
  { reads, paceReading }: Context,
): DocumentConnection {
  const read = (part: PageWithin) => reads.documentsWithin({ userId, kind, ...part })
  return toConnection(
    args,
    (extent) => {
      const page = requirePage(args, extent)
      return () => readWhole(page, read, paceReading)
    },
    positionCursor,
    () => reads.documentCount({ userId, kind }),
  )
}

/**
 * Whether a project may have this reference. The loaders would hash a longer text again for each object that asks for
 * it, and a document may ask ten thousand times.
 */
function isPossible(ref: string): boolean {
  return ref.length <= MAX_NAME_LENGTH
}

export const User = {
  id: (_me, _args, { nodeIds }) => nodeIds.user(),
  email: ({ email }) => email,
  projects: (me, args, context) => documents('project', me, args, context),
  projectsConnection: (me, args, context) => documentConnection('project', me, args, context),
  project: ({ userId }, { ref }, { loaders }) => (isPossible(ref) ? loaders().project.load({ userId, ref }) : null),
  templates: (me, args, context) => documents('template', me, args, context),
  templatesConnection: (me, args, context) => documentConnection('template', me, args, context),
  uiLibraries: (me, args, context) => documents('uiLibrary', me, args, context),
  uiLibrariesConnection: (me, args, context) => documentConnection('uiLibrary', me, args, context),
  async sessions(_me, { first }, { ownSessions }) {
    const limit = requireNumber(first, 'first')
    const open = await ownSessions()
    return limit === null ? open : open.slice(0, limit)
  },
  async latestExport({ userId }, { ref }, { loaders }) {
    const newest = isPossible(ref) ? await loaders().latestExport.load({ userId, ref }) : undefined
    if (newest) return newest
    throw new GatewayError(newest === null ? 'NO_EXPORT' : 'NO_PROJECT')
  },
} satisfies UserResolvers
