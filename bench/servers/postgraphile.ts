// The peer with GraphQL on PostGraphile 5 over node:http, as its guide to JWTs describes: it verifies the token, passes
// the claims to PostgreSQL as settings, and row level security decides what is visible.
import { createServer } from 'node:http'
import { importJWK, type JWK, jwtVerify } from 'jose'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { listening } from './listening.ts'

const { PORT, DATABASE_URL, PUBLIC_JWK } = process.env
const port = Number(PORT)
const key = await importJWK(JSON.parse(PUBLIC_JWK ?? '{}') as JWK, 'EdDSA')

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: DATABASE_URL ?? '', schemas: ['bench'] })],
  grafserv: { port, graphiql: false, watch: false },
  grafast: {
    explain: false,
    async context({ node }) {
      const token = node?.req.headers.authorization?.slice('Bearer '.length) ?? ''
      const { payload } = await jwtVerify(token, key)
      return { pgSettings: { role: 'bench_visitor', 'jwt.claims.sid': String(payload.sid) } }
    },
  },
})

const server = createServer()
server.on('error', (error) => {
  throw error
})
await instance.createServ(grafserv).addTo(server)
server.listen(port, '127.0.0.1', () => listening(port))
