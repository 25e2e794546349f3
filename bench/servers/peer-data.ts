// Implements what every peer does for a request, as its documentation suggests: verify the token, look up the session,
// read.
import Database from 'better-sqlite3'
import { importJWK, jwtVerify } from 'jose'
import { DOCUMENT_KEY, KIND_CODES, MAX_DOCUMENT_POSITION } from '../../src/store/sqlite/engine/row-ids.ts'

export interface Peer {
  /** The user's id, or null without a valid token of a live session. */
  readonly userOf: (authorization: string | undefined) => Promise<number | null>
  /** JSON texts, in stored order. */
  readonly documents: (userId: number, kind: 'project' | 'template' | 'uiLibrary') => string[]
  /** Creation time of the newest export of each reference, or null, in the order given. */
  readonly latestExports: (userId: number, refs: readonly string[]) => (string | null)[]
}

export async function openPeer(path: string): Promise<Peer> {
  const database = new Database(path, { readonly: true })
  const stored = database.prepare<[], { private_jwk: string }>('select private_jwk from signing_key').get()
  const { d: _private, ...publicJwk } = JSON.parse(stored?.private_jwk ?? '{}')
  const key = await importJWK(publicJwk, 'EdDSA')
  // The statements are those of the gateway, word for word where it matters: the comparison is not about SQL.
  const session = database
    .prepare<[string, number, number], number | null>(
      `select (select id from user u where u.email = s.email) from session s
       where id = ? and idle_expires_at > ? and expires_at > ?`,
    )
    .pluck()
  const documents = database
    .prepare<[number, number, number, number, number, number], string>(
      `select text from document where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key`,
    )
    .pluck()
  const latest = database
    .prepare<[number, string], string>(
      `with asked (user_id, ref) as (values (?, ?))
       select created_at from export where (user_id, ref) = (select user_id, ref from asked)
       order by instant desc, id desc limit 1`,
    )
    .pluck()
  return {
    async userOf(authorization) {
      try {
        const { payload } = await jwtVerify(authorization?.slice('Bearer '.length) ?? '', key)
        const now = Date.now()
        return session.get(String(payload.sid), now, now) ?? null
      } catch {
        return null
      }
    },
    documents(userId, kind) {
      const code = KIND_CODES[kind]
      return documents.all(userId, code, 0, userId, code, MAX_DOCUMENT_POSITION)
    },
    latestExports: (userId, refs) => refs.map((ref) => latest.get(userId, ref) ?? null),
  }
}

export const TYPE_DEFS = `
  type Query { me: User }
  type User { projects: [Project!]! templates: [Item!]! uiLibraries: [Item!]! }
  type Project { documentId: ID ref: String name: String description: String framework: String tags: [String!] createdAt: String updatedAt: String latestExport: Export }
  type Item { documentId: ID name: String }
  type Export { createdAt: String! }
`

/** Reads PORT and DATABASE from the environment. Throws when one is missing. */
export function requireSettings(): { readonly port: number; readonly database: string } {
  const { PORT, DATABASE } = process.env
  if (!PORT || !DATABASE) throw new Error('PORT and DATABASE are needed')
  return { port: Number(PORT), database: DATABASE }
}
