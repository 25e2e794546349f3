// Export and its elements.
import type { StoredExport } from '../store/contract.ts'
import type { Context } from './context.ts'
import { data, documentId, text } from './documents/document-fields.ts'
import { toRawJson } from './documents/raw-json.ts'
import type { ExportElementResolvers, ExportResolvers } from './generated.ts'
import type { ExportedElement } from './identity/node-row.ts'
import { toConnection } from './pagination/connection.ts'
import { exportCursor, positionCursor } from './pagination/cursors.ts'
import { type ConnectionArguments, type Extent, requireExtent, requirePage } from './pagination/page-arguments.ts'

async function elements(
  snapshot: StoredExport,
  args: ConnectionArguments,
  extent: Extent,
  { reads }: Context,
): Promise<readonly ExportedElement[]> {
  const { userId, id: exportId } = snapshot
  const stored = await reads.elements({ userId, exportId, ...requirePage(args, extent) })
  return stored.map(({ position, text }) => ({ position, text, snapshot }))
}

export const Export = {
  id: (snapshot, _args, { nodeIds }) => nodeIds.export(snapshot),
  ref: ({ ref }) => ref,
  createdAt: ({ createdAt }) => createdAt,
  digest: ({ digest }) => digest,
  byteLength: ({ byteLength }) => byteLength,
  elementCount: ({ elementCount }) => elementCount,
  cursor: exportCursor,
  elements: (snapshot, args, context) => elements(snapshot, args, requireExtent(args), context),
  elementsConnection: (snapshot, args, context) =>
    toConnection(
      args,
      (extent) => elements(snapshot, args, extent, context),
      positionCursor,
      () => snapshot.elementCount,
    ),
  async data({ userId, id: exportId }, _args, { reads }) {
    const all = await reads.elements({ userId, exportId, after: 0, limit: null })
    return toRawJson(`[${all.map((element) => element.text).join(',')}]`)
  },
} satisfies ExportResolvers

export const ExportElement = {
  id: ({ snapshot, position }, _args, { nodeIds }) => nodeIds.element(snapshot, { position }),
  data,
  cursor: positionCursor,
  documentId,
  name: text('name'),
  kind: text('kind'),
  type: text('type'),
  path: text('path'),
  content: text('content'),
} satisfies ExportElementResolvers
