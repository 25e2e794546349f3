// The resolvers of the GraphQL peers. Documents are parsed once; latest exports are batched by a per-request loader.
import type { Peer } from './peer-data.ts'

export interface PeerContext {
  readonly peer: Peer
  readonly userId: number | null
  readonly latestExport: (ref: string) => Promise<{ createdAt: string } | null>
}

interface Document {
  readonly id: unknown
  readonly ref: string
}

export async function createPeerContext(peer: Peer, authorization: string | undefined): Promise<PeerContext> {
  const userId = await peer.userOf(authorization)
  let waiting: { ref: string; resolve: (value: { createdAt: string } | null) => void }[] = []
  return {
    peer,
    userId,
    latestExport: (ref) =>
      new Promise((resolve) => {
        if (waiting.length === 0) {
          process.nextTick(() => {
            const batch = waiting
            waiting = []
            const found = peer.latestExports(
              userId ?? 0,
              batch.map((one) => one.ref),
            )
            batch.forEach((one, index) => {
              const createdAt = found[index]
              one.resolve(createdAt ? { createdAt } : null)
            })
          })
        }
        waiting.push({ ref, resolve })
      }),
  }
}

const parsed = (texts: readonly string[]): Document[] => texts.map((text) => JSON.parse(text))

const documentId = ({ id }: Document) => id

export const peerResolvers = {
  Query: { me: (_: unknown, __: unknown, { userId }: PeerContext) => (userId === null ? null : { userId }) },
  User: {
    projects: ({ userId }: { userId: number }, _: unknown, { peer }: PeerContext) =>
      parsed(peer.documents(userId, 'project')),
    templates: ({ userId }: { userId: number }, _: unknown, { peer }: PeerContext) =>
      parsed(peer.documents(userId, 'template')),
    uiLibraries: ({ userId }: { userId: number }, _: unknown, { peer }: PeerContext) =>
      parsed(peer.documents(userId, 'uiLibrary')),
  },
  Item: { documentId },
  Project: {
    documentId,
    latestExport: ({ ref }: Document, _: unknown, { latestExport }: PeerContext) => latestExport(ref),
  },
}
