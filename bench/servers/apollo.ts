// The peer with GraphQL on Apollo Server, standalone.
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { listening } from './listening.ts'
import { openPeer, requireSettings, TYPE_DEFS } from './peer-data.ts'
import { createPeerContext, type PeerContext, peerResolvers } from './peer-graphql.ts'

const { port, database } = requireSettings()
const peer = await openPeer(database)
const server = new ApolloServer<PeerContext>({ typeDefs: TYPE_DEFS, resolvers: peerResolvers, nodeEnv: 'production' })

await startStandaloneServer(server, {
  listen: { port, host: '127.0.0.1' },
  context: ({ req }) => createPeerContext(peer, req.headers.authorization),
})
listening(port)
