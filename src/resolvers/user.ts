// User: what is one's own.
import { GatewayError } from '../errors.ts'
import type { DocumentKind, StoredDocument } from '../store/contract.ts'
import type { Context, WorkspaceUser } from './context.ts'
import type { UserResolvers } from './generated.ts'
import { type DocumentConnection, toConnection } from './pagination/connection.ts'
import { type PageArguments, positionCursor, requirePage } from './pagination/page-arguments.ts'

async function documents(
  kind: DocumentKind,
  { userId }: WorkspaceUser,
  args: PageArguments,
  { reads }: Context,
): Promise<readonly StoredDocument[]> {
  return reads.documents({ userId, kind, ...requirePage(args) })
}

function documentConnection(
  kind: DocumentKind,
  me: WorkspaceUser,
  args: PageArguments,
  context: Context,
): Promise<DocumentConnection> {
  return toConnection(
    args,
    (page) => documents(kind, me, page, context),
    positionCursor,
    () => context.reads.documentCount({ userId: me.userId, kind }),
  )
}

export const User = {
  email: ({ email }) => email,
  projects: (me, args, context) => documents('project', me, args, context),
  projectsConnection: (me, args, context) => documentConnection('project', me, args, context),
  project: ({ userId }, { ref }, { reads }) => reads.projectByRef({ userId, ref }),
  templates: (me, args, context) => documents('template', me, args, context),
  templatesConnection: (me, args, context) => documentConnection('template', me, args, context),
  uiLibraries: (me, args, context) => documents('uiLibrary', me, args, context),
  uiLibrariesConnection: (me, args, context) => documentConnection('uiLibrary', me, args, context),
  async latestExport({ userId }, { ref }, { reads, latestExports }) {
    const newest = await latestExports.load({ userId, ref })
    if (newest) return newest
    throw new GatewayError((await reads.projectByRef({ userId, ref })) ? 'NO_EXPORT' : 'NO_PROJECT')
  },
} satisfies UserResolvers
