// Project: the document, and its exports.
import type { StoredDocument } from '../store/contract.ts'
import { data, documentId, documentNodeId, text, textList } from './documents/document-fields.ts'
import type { ProjectResolvers } from './generated.ts'
import { toConnection } from './pagination/connection.ts'
import { exportCursor, positionCursor } from './pagination/cursors.ts'
import { requireExportPage, requireExtent } from './pagination/page-arguments.ts'

function requireRef({ ref }: StoredDocument): string {
  if (ref === null) throw new Error('a stored project has no reference')
  return ref
}

export const Project = {
  id: documentNodeId,
  data,
  ref: requireRef,
  cursor: positionCursor,
  documentId,
  name: text('name'),
  description: text('description'),
  framework: text('framework'),
  tags: textList('tags'),
  version: text('version'),
  createdAt: text('createdAt'),
  updatedAt: text('updatedAt'),
  latestExport: (project, _args, { loaders }) =>
    loaders().latestExport.load({ userId: project.userId, ref: requireRef(project), isKnown: true }),
  async exports(project, args, { reads }) {
    const ref = { userId: project.userId, ref: requireRef(project) }
    return reads.exports({ ...ref, ...requireExportPage(args, requireExtent(args)) })
  },
  exportsConnection(project, args, { reads }) {
    const ref = { userId: project.userId, ref: requireRef(project) }
    return toConnection(
      args,
      (extent) => reads.exports({ ...ref, ...requireExportPage(args, extent) }),
      exportCursor,
      () => reads.exportCount(ref),
    )
  },
} satisfies ProjectResolvers
