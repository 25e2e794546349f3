// Export and ExportElement: the resolvers of an export and of its elements.
import type { PageWithin, StoredExport } from '../store/contract.ts'
import type { Context } from './context.ts'
import { data, documentId, text } from './documents/document-fields.ts'
import { toRawJson } from './documents/raw-json.ts'
import type { ExportElementResolvers, ExportResolvers } from './generated.ts'
import type { ExportedElement } from './identity/node-row.ts'
import { toConnection } from './pagination/connection.ts'
import { exportCursor, positionCursor } from './pagination/cursors.ts'
import { requireExtent, requirePage } from './pagination/page-arguments.ts'
import { PART_BYTES, readInParts, readWhole } from './pagination/read-in-parts.ts'
import type { HeldPart } from './reads/request-reads.ts'

function readElements(
  snapshot: StoredExport,
  { reads }: Context,
): (part: PageWithin) => Promise<HeldPart<ExportedElement>> {
  const { userId, id: exportId } = snapshot
  return async (part) => {
    const { items, isCut, letGo } = await reads.elementsWithin({ userId, exportId, ...part })
    const elements = items.map((stored) => ({ position: stored.position, text: stored.text, snapshot, stored }))
    return { items: elements, isCut, letGo }
  }
}

/** One turn may ask for the elements of many exports, so even the first part of each waits for the turn quota. */
function paceFirstPart({ byteLength }: StoredExport, { paceReading }: Context): Promise<void> | null {
  return paceReading(Math.min(byteLength, PART_BYTES))
}

export const Export = {
  id: (snapshot, _args, { nodeIds }) => nodeIds.export(snapshot),
  ref: ({ ref }) => ref,
  createdAt: ({ createdAt }) => createdAt,
  digest: ({ digest }) => digest,
  byteLength: ({ byteLength }) => byteLength,
  elementCount: ({ elementCount }) => elementCount,
  cursor: exportCursor,
  async elements(snapshot, args, context) {
    const page = requirePage(args, requireExtent(args))
    await paceFirstPart(snapshot, context)
    return readInParts(page, readElements(snapshot, context), context.paceReading)
  },
  elementsConnection: (snapshot, args, context) =>
    toConnection(
      args,
      (extent) => {
        const page = requirePage(args, extent)
        return async () => {
          await paceFirstPart(snapshot, context)
          return readWhole(page, readElements(snapshot, context), context.paceReading)
        }
      },
      positionCursor,
      () => snapshot.elementCount,
    ),
  async data(snapshot, _args, { loaders }) {
    return toRawJson(await loaders().exportBytes.load(snapshot))
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
