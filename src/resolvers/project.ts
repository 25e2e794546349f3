// Project: the document, and its exports.
import type { StoredDocument } from '../store/contract.ts'
import { data, id, text, textList } from './documents/document-fields.ts'
import type { ProjectResolvers } from './generated.ts'
import { toConnection } from './pagination/connection.ts'
import { exportCursor, positionCursor, requireExportPage } from './pagination/page-arguments.ts'

function requireRef({ ref }: StoredDocument): string {
  if (ref === null) throw new Error('a stored project has no reference')
  return ref
}

export const Project = {
  data,
  id,
  ref: requireRef,
  cursor: positionCursor,
  name: text('name'),
  description: text('description'),
  framework: text('framework'),
  tags: textList('tags'),
  version: text('version'),
  createdAt: text('createdAt'),
  updatedAt: text('updatedAt'),
  latestExport: (project, _args, { latestExports }) =>
    latestExports.load({ userId: project.userId, ref: requireRef(project) }),
  async exports(project, args, { reads }) {
    return reads.exports({ userId: project.userId, ref: requireRef(project), ...requireExportPage(args) })
  },
  exportsConnection(project, args, { reads }) {
    const ref = { userId: project.userId, ref: requireRef(project) }
    return toConnection(
      args,
      (page) => reads.exports({ ...ref, ...requireExportPage(page) }),
      exportCursor,
      () => reads.exportCount(ref),
    )
  },
} satisfies ProjectResolvers
