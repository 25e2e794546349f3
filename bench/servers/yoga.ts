// The peer with GraphQL on Yoga, with its default configuration.
import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { listening } from './listening.ts'
import { openPeer, requireSettings, TYPE_DEFS } from './peer-data.ts'
import { createPeerContext, type PeerContext, peerResolvers } from './peer-graphql.ts'

const { port, database } = requireSettings()
const peer = await openPeer(database)
const yoga = createYoga({
  schema: createSchema<PeerContext>({ typeDefs: TYPE_DEFS, resolvers: peerResolvers }),
  logging: false,
  context: ({ request }) => createPeerContext(peer, request.headers.get('authorization') ?? undefined),
})

createServer(yoga).listen(port, '127.0.0.1', () => listening(port))
