// Locks and adds the users of an import, always in one order, so that two imports cannot deadlock: first those who exist,
// by id, then those who are missing, by email.
import { type Connection, type Statement, statements } from '../connection.ts'
import { ConflictError, USER_TAKEN } from './faults/pg-errors.ts'

export const ADD_USERS: Statement = {
  name: 'addUsers',
  text: `insert into workspace_gateway.user (email)
    select email from unnest($1::text[]) as asked (email)
    where not exists (select 1 from workspace_gateway.user u where u.email = asked.email)
    order by email on conflict (email) do nothing returning id, email`,
}
const SQL = statements({
  // Users are always locked in the order of their ids, so that two imports cannot deadlock. `lateral` with `offset 0`
  // forces one index lookup per email: see upsert-documents.ts.
  lockUsers: `select u.id, u.email from (
      select named.id from unnest($1::text[]) as asked (email)
        cross join lateral (select id from workspace_gateway.user where email = asked.email offset 0) named
      union select user_id from workspace_gateway.staged_export where stage = any($2::text[])
      order by id) asked
    cross join lateral (
      select id, email from workspace_gateway.user where id = asked.id for no key update) u`,
  // Waits for nobody, because the transaction holds users with greater ids already.
  lockFreeUsers: `select u.id, u.email from unnest($1::text[]) as asked (email) cross join lateral (
      select id, email from workspace_gateway.user where email = asked.email for no key update skip locked) u`,
})

interface User {
  readonly id: number
  readonly email: string
}

/** The users of a list of steps whom the transaction has locked or added. */
export interface HeldUsers {
  readonly ids: Map<string, number>
  /** Those who were added, until an adding step names them. */
  readonly fresh: Set<string>
}

export async function lockUsers(connection: Connection, emails: ReadonlySet<string>, stages: readonly string[]) {
  const users = await connection.query<User & object>(SQL.lockUsers, [[...emails], [...new Set(stages)]])
  return new Map(users.map(({ id, email }) => [email, id]))
}

/**
 * Adds missing users. Throws `ConflictError` when another transaction has added one meanwhile and holds it: waiting for
 * it now could be a deadlock.
 */
export async function addMissing(
  connection: Connection,
  emails: ReadonlySet<string>,
  { ids, fresh }: HeldUsers,
): Promise<void> {
  const unheld = () => [...emails].filter((email) => !ids.has(email))
  if (unheld().length === 0) return
  for (const { id, email } of await connection.query<User & object>(ADD_USERS, [unheld()])) {
    ids.set(email, id)
    fresh.add(email)
  }
  if (unheld().length === 0) return
  for (const { id, email } of await connection.query<User & object>(SQL.lockFreeUsers, [unheld()])) ids.set(email, id)
  if (unheld().length > 0) throw new ConflictError(USER_TAKEN)
}
