// Project: the resolvers of the document's fields and of its exports.
import type { StoredDocument, StoredExport } from '../store/contract.ts'
import type { Context } from './context.ts'
import { DOCUMENT_FIELDS } from './documents/document-fields.ts'
import type { ProjectResolvers } from './generated.ts'
import { type ReadList, toConnection } from './pagination/connection.ts'
import { exportCursor } from './pagination/cursors.ts'
import { type ConnectionArguments, type Extent, requireExportPage, requireExtent } from './pagination/page-arguments.ts'
import { countHistory, readHistory } from './pagination/read-history.ts'

function requireRef({ ref }: StoredDocument): string {
  if (ref === null) throw new Error('a stored project has no reference')
  return ref
}

function history(
  project: StoredDocument,
  args: ConnectionArguments,
  extent: Extent,
  { reads, paceReading }: Context,
): ReadList<StoredExport> {
  const page = { userId: project.userId, ref: requireRef(project), ...requireExportPage(args, extent) }
  return () => readHistory(page, reads.exports, paceReading)
}

export const Project = {
  ...DOCUMENT_FIELDS,
  ref: requireRef,
  latestExport: (project, _args, { loaders }) =>
    loaders().latestExport.load({ userId: project.userId, ref: requireRef(project), isKnown: true }),
  async exports(project, args, context) {
    return history(project, args, requireExtent(args), context)()
  },
  exportsConnection(project, args, context) {
    const { reads, paceReading } = context
    return toConnection(
      args,
      (extent) => history(project, args, extent, context),
      exportCursor,
      () => countHistory({ userId: project.userId, ref: requireRef(project) }, reads.exportCount, paceReading),
    )
  },
} satisfies ProjectResolvers
