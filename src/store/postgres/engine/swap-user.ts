// Replaces a user's documents and exports by the staged ones, with set-based statements: no content passes through the
// memory of the process.
import { DROPPED_AT, LAST_KEPT_POSITION, rankBy, type Swapped, type SwapQuestion } from '../../workspace-edits.ts'
import { type Connection, type Statement, statements } from '../connection.ts'

/** Offset of temporary positions. Only documents that are being moved to another position have one. */
const DETOUR = 1_073_741_824
/** A temporary reference, longer than any real one. A project has it while others take their new references. */
const DETOUR_REF = `repeat('x', 1100) || d.id`

const DOCUMENT = 'workspace_gateway.document'
const STAGED = 'workspace_gateway.staged_document'
const KEY = 'workspace_gateway.key_of'
const SAME = `d.user_id = $2 and s.owner = $1 and s.kind = d.kind and ${KEY}(s.id) = ${KEY}(d.id)`
const EXPORTS_OF = `select ${KEY}(ref) as ref, instant, digest from workspace_gateway.staged_export
  where owner = $1 and digest is not null`
/** Whether an export of user $2 is kept: when $3 is true and its reference belongs to a staged project. */
const isKept = (refKey: string) =>
  `($3::boolean and ${refKey} in (select ${KEY}(s.ref) from ${STAGED} s where s.owner = $1 and s.kind = 'project'))`
/**
 * The stored exports under the new reference of their project. `goes` is true when the project is removed along with
 * them.
 */
const STORED_EXPORTS = `select ${KEY}(coalesce(s.ref, e.ref)) as ref, e.instant, e.digest, d.id is not null and s.id is null as goes
  from workspace_gateway.export e
  left join ${DOCUMENT} d on d.user_id = $2 and ${KEY}(d.ref) = ${KEY}(e.ref) and d.ref is not null
  left join ${STAGED} s on ${SAME}
  where e.user_id = $2`

/** No user has this id, so everything counts as added. */
const NOBODY = -1

/** Locks users in the order of their ids, as every import does, so that the two cannot deadlock. */
export const LOCK_USERS: Statement = {
  name: 'lockUsersByEmail',
  text: 'select id from workspace_gateway.user where email = any($1::text[]) order by id for update',
}
const SQL = statements({
  // Waits for nobody, because the transaction holds other users already: if another one holds this user, whom it added
  // meanwhile, adding the user fails as a conflict, and the transaction starts over.
  lockSwapped: 'select id from workspace_gateway.user where email = $1 for update skip locked',
  // A user who was renamed while the exports were staged has the reserved id.
  addSwapped: `insert into workspace_gateway.user (id, email) overriding system value
    select coalesce((select nextval(pg_get_serial_sequence('workspace_gateway.user', 'id')::regclass)
      from workspace_gateway.user where id = $1), $1), $2 returning id`,
  /** Gives the staged exports to user $2. The elements of an export can only be added after it. */
  giveStagedExports: 'update workspace_gateway.staged_export set user_id = $2 where owner = $1',
  giveStagedElements: `with given as (
      delete from workspace_gateway.export_element e using workspace_gateway.staged_export s
      where s.owner = $1 and (e.user_id, e.export_id) = ($3, s.id) returning e.export_id, e.position, e.text)
    insert into workspace_gateway.export_element (user_id, export_id, position, text)
    select $2, export_id, position, text from given`,
  countSwapped: `with
      d as (select d.user_id is null as is_new,
          d.text is not distinct from s.text and d.ref is not distinct from s.ref
            and ${rankBy('s.position')} = ${rankBy('d.position')} as is_same
        from ${STAGED} s left join ${DOCUMENT} d on ${SAME} where s.owner = $1),
      wanted as (select distinct * from (${EXPORTS_OF}) e),
      stored as (${STORED_EXPORTS}),
      present as (select ref, instant, digest from stored),
      bare as (select 1 where not exists (select 1 from d) and not exists (select 1 from wanted))
    select
      (select count(*) from d where is_new)
        + (select count(*) from (select * from wanted except select * from present) e)
        + (select count(*) from bare where $2 = ${NOBODY}) as added,
      (select count(*) from d where not is_new and not is_same) as replaced,
      (select count(*) from d where is_same and not is_new)
        + (select count(*) from (select * from wanted intersect select * from present) e)
        + (select count(*) from bare where $2 <> ${NOBODY}) as unchanged,
      (select count(*) from ${DOCUMENT} d where user_id = $2 and not exists (select 1 from ${STAGED} s where ${SAME}))
        + (select count(*) from (
          select ref, instant, digest from stored where goes or not ${isKept('ref')} except select * from wanted) e) as removed`,
})
/** Parameters: the staged user, the user, and whether exports of projects that stay are kept. */
const SWAP_EXPORTS_OUT: Statement = {
  name: 'swapExportsOut',
  text: `delete from workspace_gateway.export where user_id = $2
    and (${KEY}(ref), instant, digest) not in (${EXPORTS_OF}) and not ${isKept(`${KEY}(ref)`)}`,
}
/** The other statements take the staged user and the user. */
const CHANGES: readonly Statement[] = [
  // Staged positions begin with 1 and have no gaps. Each shift makes room for the documents that stay where they are.
  {
    name: 'shiftStaged',
    text: `with shifted as (
        select s.kind, s.position,
          max(coalesce(d.position, 0) - s.position) over (partition by s.kind order by s.position) as shift
        from ${STAGED} s left join ${DOCUMENT} d on ${SAME} where s.owner = $1)
      update ${STAGED} s set position = s.position + shift + ${DETOUR} from shifted
      where s.owner = $1 and (shifted.kind, shifted.position) = (s.kind, s.position) and shift > 0
        and not exists (select 1 from shifted where position + shift > ${LAST_KEPT_POSITION})`,
  },
  {
    name: 'placeShifted',
    text: `update ${STAGED} set position = position - ${DETOUR}
      where owner = $1 and position >= ${DETOUR} and $2::bigint is not null`,
  },
  // Remaining documents first give up their references and positions, so that they do not conflict with each other.
  {
    name: 'swapOut',
    text: `delete from ${DOCUMENT} d where user_id = $2 and not exists (select 1 from ${STAGED} s where ${SAME})`,
  },
  {
    name: 'swapRefs',
    text: `update ${DOCUMENT} d set ref = ${DETOUR_REF} from ${STAGED} s
      where ${SAME} and d.kind = 'project' and s.ref <> d.ref`,
  },
  {
    name: 'swapPlaces',
    text: `update ${DOCUMENT} d set position = d.position + ${DETOUR} from ${STAGED} s
      where ${SAME} and s.position <> d.position`,
  },
  {
    name: 'swapTexts',
    text: `update ${DOCUMENT} d set position = s.position, ref = s.ref, text = s.text from ${STAGED} s
      where ${SAME} and (s.position <> d.position or s.ref is distinct from d.ref or s.text <> d.text)`,
  },
  {
    name: 'swapIn',
    text: `insert into ${DOCUMENT} (user_id, kind, position, id, ref, text)
      select $2, kind, position, id, ref, text from ${STAGED} s
      where owner = $1 and not exists (select 1 from ${DOCUMENT} d where ${SAME})
      order by kind, position`,
  },
  SWAP_EXPORTS_OUT,
  {
    name: 'swapExportsIn',
    text: `insert into workspace_gateway.export
        (user_id, id, ref, created_at, instant, digest, byte_length, element_count)
      select $2, id, ref, created_at, instant, digest, byte_length, element_count
      from workspace_gateway.staged_export where owner = $1 and digest is not null order by id
      on conflict do nothing`,
  },
  {
    name: 'unstageSwapped',
    text: `delete from workspace_gateway.staged_export
      where owner = $1 and id in (select id from workspace_gateway.export where user_id = $2)`,
  },
  // The elements of exports that exist already are dropped later in batches, or with the user.
  {
    name: 'disownSwapped',
    text: `update workspace_gateway.staged_export set owner = null, staged_at = ${DROPPED_AT}
      where owner = $1 and $2::bigint is not null`,
  },
  {
    name: 'dropSwapped',
    text: `with dropped as (delete from ${STAGED} where owner = $1)
      delete from workspace_gateway.staged_user where id = $1 and $2::bigint is not null`,
  },
]

interface UserId {
  readonly id: number
}

async function addUser(connection: Connection, reservedId: number, email: string): Promise<UserId> {
  const [added] = await connection.query<UserId & object>(SQL.addSwapped, [reservedId, email])
  if (!added) throw new Error('the user of a replacement could not be added')
  return added
}

/** Swaps in the staged workspace of one user, within a transaction. Returns the counts of changes. */
export async function swapUser(
  connection: Connection,
  { id: owner, email, userId: reservedId }: { readonly id: number; readonly email: string; readonly userId: number },
  { isDryRun, keepsExports = false }: Pick<SwapQuestion, 'isDryRun' | 'keepsExports'>,
): Promise<Swapped> {
  const [user] = await connection.query<UserId & object>(SQL.lockSwapped, [email])
  const [counts] = await connection.query<Omit<Swapped, 'email'>>(SQL.countSwapped, [
    owner,
    user?.id ?? NOBODY,
    keepsExports,
  ])
  if (!counts) throw new Error('the changes of a replacement could not be counted')
  if (isDryRun) return { email, ...counts }
  const { id: userId } = user ?? (await addUser(connection, reservedId, email))
  if (userId !== reservedId) {
    // The user was added, or removed and added again, after the exports were staged under the reserved id.
    await connection.query(SQL.giveStagedExports, [owner, userId])
    await connection.query(SQL.giveStagedElements, [owner, userId, reservedId])
  }
  for (const statement of CHANGES) {
    await connection.query(statement, statement === SWAP_EXPORTS_OUT ? [owner, userId, keepsExports] : [owner, userId])
  }
  return { email, ...counts }
}
