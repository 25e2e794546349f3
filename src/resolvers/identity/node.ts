// Node: finds what an id names, and tells its type.
import type { DocumentKind } from '../../store/contract.ts'
import type { Context, WorkspaceUser } from '../context.ts'
import type { NodeResolvers } from '../generated.ts'
import type { NodeKey } from './node-id.ts'
import type { NodeRow } from './node-row.ts'

const DOCUMENT_TYPES = {
  project: 'Project',
  template: 'Template',
  uiLibrary: 'UiLibrary',
} as const satisfies Record<DocumentKind, string>

export const Node = {
  __resolveType(node) {
    if ('kind' in node) return DOCUMENT_TYPES[node.kind]
    if ('digest' in node) return 'Export'
    if ('userAgent' in node) return 'Session'
    return 'snapshot' in node ? 'ExportElement' : 'User'
  },
} satisfies NodeResolvers

/** Null if the id names nothing that this user owns. */
export async function findNode(me: WorkspaceUser, id: string, context: Context): Promise<NodeRow | null> {
  const key = context.nodeIds.read(id)
  return key && find(me, key, context)
}

async function find(me: WorkspaceUser, key: NodeKey, { loaders, ownSessions }: Context): Promise<NodeRow | null> {
  const { userId } = me
  if (key.type === 'User') return me
  if (key.type === 'Session') return (await ownSessions()).find(({ id }) => id === key.id) ?? null
  if (key.type !== 'Export' && key.type !== 'ExportElement') {
    return loaders().document.load({ userId, kind: key.type, id: key.id })
  }
  const snapshot = await loaders().export.load({ userId, ...key.key })
  if (snapshot === null || key.type === 'Export') return snapshot
  const element = await loaders().element.load({ userId, exportId: snapshot.id, position: key.position })
  return element && { ...element, snapshot, stored: element }
}
