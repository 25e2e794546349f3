// Export and its elements.
import type { StoredElement, StoredExport } from '../store/contract.ts'
import type { Context } from './context.ts'
import { data, id, text } from './documents/document-fields.ts'
import { toRawJson } from './documents/raw-json.ts'
import type { ExportElementResolvers, ExportResolvers } from './generated.ts'
import { toConnection } from './pagination/connection.ts'
import { exportCursor, type PageArguments, positionCursor, requirePage } from './pagination/page-arguments.ts'

async function elements(
  { userId, id: exportId }: StoredExport,
  args: PageArguments,
  { reads }: Context,
): Promise<readonly StoredElement[]> {
  return reads.elements({ userId, exportId, ...requirePage(args) })
}

export const Export = {
  ref: ({ ref }) => ref,
  createdAt: ({ createdAt }) => createdAt,
  digest: ({ digest }) => digest,
  byteLength: ({ byteLength }) => byteLength,
  elementCount: ({ elementCount }) => elementCount,
  cursor: exportCursor,
  elements,
  elementsConnection: (snapshot, args, context) =>
    toConnection(
      args,
      (page) => elements(snapshot, page, context),
      positionCursor,
      () => snapshot.elementCount,
    ),
  async data(snapshot, _args, context) {
    const all = await elements(snapshot, {}, context)
    return toRawJson(`[${all.map((element) => element.text).join(',')}]`)
  },
} satisfies ExportResolvers

export const ExportElement = {
  data,
  id,
  cursor: positionCursor,
  name: text('name'),
  kind: text('kind'),
  type: text('type'),
  path: text('path'),
  content: text('content'),
} satisfies ExportElementResolvers
