// The peer with REST on Fastify.
import fastify from 'fastify'
import { listening } from './listening.ts'
import { openPeer, requireSettings } from './peer-data.ts'

const { port, database } = requireSettings()
const peer = await openPeer(database)
const app = fastify()

app.get('/projects', async (request, reply) => {
  const userId = await peer.userOf(request.headers.authorization)
  if (userId === null) return reply.code(401).send()
  return reply.type('application/json; charset=utf-8').send(`[${peer.documents(userId, 'project').join(',')}]`)
})

await app.listen({ port, host: '127.0.0.1' })
listening(port)
