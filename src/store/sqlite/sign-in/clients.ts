// Stores registered clients in SQLite.
import type { Database } from 'better-sqlite3'
import { type ClientRow, type ClientVerbs, toClient } from '../../sign-in/client-contract.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'

const CLIENT = `name, secret_hash as secretHash, domains, scopes, per_minute as perMinute, created_at as createdAt`

export function createClients(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): ClientVerbs {
  const add = writer.prepare<[string, string, string, string, number, number]>(
    `insert into client (name, secret_hash, domains, scopes, per_minute, created_at) values (?, ?, ?, ?, ?, ?)
     on conflict do nothing`,
  )
  const all = reader.prepare<[], ClientRow>(`select ${CLIENT} from client order by name`)
  const byName = reader.prepare<[string], ClientRow>(`select ${CLIENT} from client where name = ?`)
  const remove = writer.prepare<[string]>('delete from client where name = ?')

  return {
    addClient: ({ name, secretHash, domains, scopes, perMinute, createdAt }) =>
      commits.write(
        () => add.run(name, secretHash, domains.join(','), scopes.join(','), perMinute, createdAt).changes > 0,
      ),
    async clients() {
      return turn.decide(() => all.all().map(toClient))
    },
    async clientByName(name) {
      return turn.decide(() => {
        const row = byName.get(name)
        return row ? toClient(row) : null
      })
    },
    removeClient: (name) => commits.write(() => remove.run(name).changes > 0),
  }
}
