// The peer with GraphQL on Mercurius with JIT.
import fastify from 'fastify'
import mercurius from 'mercurius'
import { listening } from './listening.ts'
import { openPeer, requireSettings, TYPE_DEFS } from './peer-data.ts'
import { createPeerContext, type PeerContext, peerResolvers } from './peer-graphql.ts'

declare module 'mercurius' {
  interface MercuriusContext extends PeerContext {}
}

const { port, database } = requireSettings()
const peer = await openPeer(database)
const app = fastify()

await app.register(mercurius, {
  schema: TYPE_DEFS,
  resolvers: peerResolvers,
  jit: 1,
  context: (request) => createPeerContext(peer, request.headers.authorization),
})
await app.listen({ port, host: '127.0.0.1' })
listening(port)
