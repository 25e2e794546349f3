// Removes and renames in SQLite, for the steps of an import and for commands.
import type { Database } from 'better-sqlite3'
import type { ChangeOf, ChangeOutcome, Removal } from '../contract.ts'
import { knownAddressKey } from '../sign-in/decide-code-requests.ts'
import {
  ANY_AGE,
  ELEMENTS_PER_PRUNE,
  EXPORTS_PER_PRUNE,
  type Holdings,
  NO_HOLDINGS,
  type PruneRule,
  REFS_PER_PRUNE,
  type WorkspaceEdits,
} from '../workspace-edits.ts'
import { createAuditHashing } from './access/audit.ts'
import type { GroupCommit } from './engine/group-commit.ts'
import type { ReadTransaction } from './engine/read-transaction.ts'
import { tablesByEmail } from './engine/tables-by-email.ts'
import { createStagedRemoval } from './stale-stages.ts'

const HOLDINGS = `select asked.email,
    (select count(*) from document where user_id = u.id and kind = 'project') as projects,
    (select count(*) from document where user_id = u.id and kind = 'template') as templates,
    (select count(*) from document where user_id = u.id and kind = 'uiLibrary') as uiLibraries,
    (select count(*) from export where user_id = u.id) as exports,
    (select coalesce(sum(byte_length), 0) from export where user_id = u.id) as exportBytes,
    (select count(*) from session where email = asked.email) as sessions
  from (select ? as email) asked left join user u on u.email = asked.email
  where u.id is not null or exists (select 1 from session where email = asked.email)`

type RemovalVerbs = Pick<WorkspaceEdits, 'holdingsOf' | 'removeUsers' | 'renameUser' | 'pruneExports'>

/** The removal steps of an import. They run within its transaction and return one outcome per step, in order. */
export type ApplyRemovals = {
  readonly [T in Removal['type']]: (changes: readonly ChangeOf<T>[]) => readonly ChangeOutcome[]
}

/** Removes everything that is stored under an email outside the workspace: sessions, pending sign-ins and the like. */
function createRemovalByEmail(writer: Database): (email: string) => void {
  const rows = tablesByEmail(writer).map((table) => writer.prepare<[string]>(`delete from ${table} where email = ?`))
  // The table has a hash in place of the email.
  const networks = writer.prepare<[string]>('delete from known_network where address_key = ?')
  return (email) => {
    for (const statement of rows) statement.run(email)
    networks.run(knownAddressKey(email))
  }
}

/** Run it within a transaction of the writer. Returns what was removed; null for an email without stored rows. */
function createUserRemoval(writer: Database): (emails: readonly string[]) => readonly (Holdings | null)[] {
  const holdings = writer.prepare<[string], Holdings>(HOLDINGS)
  const removeUser = writer.prepare<[string]>('delete from user where email = ?')
  const removeByEmail = createRemovalByEmail(writer)
  const removeStaged = createStagedRemoval(writer)
  const hashInAudit = createAuditHashing(writer)

  function remove(email: string): Holdings | null {
    const found = holdings.get(email)
    const wasStaged = removeStaged(email)
    // Always run these: an email that only asked for a code has no workspace.
    removeByEmail(email)
    if (!found) return wasStaged ? { email, ...NO_HOLDINGS } : null
    // Triggers remove the user's documents and exports.
    removeUser.run(email)
    return found
  }

  return (emails) => {
    hashInAudit(emails)
    return emails.map(remove)
  }
}

export function createRemovalSteps(writer: Database): ApplyRemovals {
  const removeUsers = createUserRemoval(writer)
  const removeDocument = writer.prepare<[string, string, string]>(
    'delete from document where user_id = (select id from user where email = ?) and kind = ? and id = ?',
  )
  const removeExports = writer.prepare<Omit<ChangeOf<'removeExports'>, 'type'>>(
    `delete from export where user_id = (select id from user where email = $email)
       and ($ref is null or ref = $ref) and ($instant is null or instant = $instant)
       and ($digest is null or digest = $digest)`,
  )
  const toOutcome = (isRemoved: boolean): ChangeOutcome => (isRemoved ? 'removed' : 'unchanged')
  return {
    removeUser: (changes) => removeUsers(changes.map(({ email }) => email)).map((held) => toOutcome(held !== null)),
    removeDocument: (changes) =>
      changes.map(({ email, kind, id }) => toOutcome(removeDocument.run(email, kind, id).changes > 0)),
    removeExports: (changes) =>
      changes.map(({ email, ref, instant, digest }) =>
        toOutcome(removeExports.run({ email, ref, instant, digest }).changes > 0),
      ),
  }
}

export function createRemovals(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): RemovalVerbs {
  const holdings = reader.prepare<[string], Holdings>(HOLDINGS)
  const removeUsers = createUserRemoval(writer)
  const known = writer.prepare<[string], number>('select id from user where email = ?').pluck()
  const rename = writer.prepare<[string, number]>('update user set email = ? where id = ?')
  const removeByEmail = createRemovalByEmail(writer)
  const removeStaged = createStagedRemoval(writer)
  const hashInAudit = createAuditHashing(writer)
  // Both follow an index, so that they do not read the exports that stay.
  const refsAfter = writer
    .prepare<[PruneRule], string>(
      `with recursive refs (ref) as (
         select min(ref) from export where user_id = $userId and ref > $after
         union all
         select (select min(ref) from export where user_id = $userId and ref > refs.ref) from refs where ref is not null)
       select ref from refs where ref is not null limit ${REFS_PER_PRUNE}`,
    )
    .pluck()
  const prunable = writer.prepare<
    [PruneRule & { readonly ref: string }],
    { readonly id: number; readonly byteLength: number; readonly elementCount: number }
  >(
    `select id, byte_length as byteLength, element_count as elementCount from export
     where user_id = $userId and ref = $ref and instant < $before and (instant, id) <= (
       select instant, id from export where user_id = $userId and ref = $ref order by instant desc, id desc
       limit 1 offset $keep)
     order by instant, id limit ${EXPORTS_PER_PRUNE + 1}`,
  )
  const removeExport = writer.prepare<[number]>('delete from export where id = ?')

  return {
    holdingsOf(emails) {
      return turn.readNow(() => emails.map((email) => holdings.get(email) ?? null))
    },
    removeUsers: (emails) => commits.write(() => removeUsers(emails)),
    renameUser: (email, to) =>
      commits.write(() => {
        const id = known.get(email)
        if (id === undefined) return 'unknown'
        if (known.get(to) !== undefined) return 'taken'
        rename.run(to, id)
        removeByEmail(email)
        removeStaged(email)
        hashInAudit([email])
        return 'renamed'
      }),
    pruneExports: ({ userId, keep, before, after }) =>
      commits.write(() => {
        const rule = { userId, keep, before: before ?? ANY_AGE, after }
        const refs = refsAfter.all(rule)
        let [exports, byteLength, elements] = [0, 0, 0]
        for (const ref of refs) {
          for (const one of prunable.all({ ...rule, ref })) {
            const isFull = exports === EXPORTS_PER_PRUNE || elements + one.elementCount > ELEMENTS_PER_PRUNE
            if (exports > 0 && isFull) return { exports, byteLength, next: after }
            removeExport.run(one.id)
            exports += 1
            byteLength += one.byteLength
            elements += one.elementCount
          }
        }
        return { exports, byteLength, next: refs[REFS_PER_PRUNE - 1] ?? null }
      }),
  }
}
