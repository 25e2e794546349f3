// GraphQL on Mercurius with JIT.
import fastify from 'fastify'
import mercurius from 'mercurius'
import { listening, openPeer, requireSettings, TYPE_DEFS } from './peer-data.ts'
import { createPeerContext, peerResolvers } from './peer-graphql.ts'

const { port, database } = requireSettings()
const peer = await openPeer(database)
const app = fastify()

await app.register(mercurius, {
  schema: TYPE_DEFS,
  resolvers: peerResolvers,
  jit: 1,
  context: (request: { headers: { authorization?: string } }) => createPeerContext(peer, request.headers.authorization),
})
await app.listen({ port, host: '127.0.0.1' })
listening(port)
