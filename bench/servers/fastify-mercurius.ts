// The peer with the whole API on Fastify and Mercurius: REST reads, GraphQL with JIT, logins and refreshes.
import fastify from 'fastify'
import mercurius from 'mercurius'
import { listening } from './listening.ts'
import { openPeer, requireSettings, TYPE_DEFS } from './peer-data.ts'
import { createPeerContext, type PeerContext, peerResolvers } from './peer-graphql.ts'
import { openPeerSessions } from './peer-sessions.ts'

declare module 'mercurius' {
  interface MercuriusContext extends PeerContext {}
}

const { port, database } = requireSettings()
const peer = await openPeer(database)
const sessions = await openPeerSessions(database)
const app = fastify()

await app.register(mercurius, {
  schema: TYPE_DEFS,
  resolvers: peerResolvers,
  jit: 1,
  context: (request) => createPeerContext(peer, request.headers.authorization),
})

app.get('/projects', async (request, reply) => {
  const userId = await peer.userOf(request.headers.authorization)
  if (userId === null) return reply.code(401).send()
  return reply.type('application/json; charset=utf-8').send(`[${peer.documents(userId, 'project').join(',')}]`)
})

const tokens = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const body = (name: string, format?: string) => ({
  type: 'object',
  required: [name],
  properties: { [name]: { type: 'string', ...(format === undefined ? {} : { format }) } },
})

app.post<{ Body: { email: string } }>(
  '/login',
  { schema: { body: body('email', 'email'), response: { 200: tokens('accessToken', 'refreshToken') } } },
  (request) => sessions.login(request.body.email.trim().toLowerCase()),
)

app.post<{ Body: { refreshToken: string } }>(
  '/token',
  { schema: { body: body('refreshToken'), response: { 200: tokens('accessToken') } } },
  async (request, reply) => (await sessions.refresh(request.body.refreshToken)) ?? reply.code(401).send({}),
)

await app.listen({ port, host: '127.0.0.1' })
listening(port)
